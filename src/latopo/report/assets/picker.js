// What is under the pointer: a point if one is near, else an edge, else the most probable polygon there.

const POINT_REACH = 9;
const EDGE_REACH = 4;

function pick(painter, scene, x, y) {
  const node = nearestPoint(painter, scene, x, y);
  if (node !== null) return { kind: "point", node };
  let polygon = null;
  let edge = null;
  let nearest = EDGE_REACH;
  for (const { group, cells } of scene.visible) {
    for (const cell of cells) {
      if (group.length === 2) {
        const distance = distanceToEdge(painter, group, cell, x, y);
        if (distance < nearest) [nearest, edge] = [distance, { kind: "cell", group, cell }];
      } else if (!edge && isMoreProbable(group, cell, polygon) && isInside(painter, group, cell, x, y)) {
        polygon = { kind: "cell", group, cell };
      }
    }
  }
  return edge ?? polygon;
}

function nearestPoint(painter, scene, x, y) {
  let nearest = null;
  let least = Math.max(POINT_REACH, painter.radius + 3) ** 2;
  for (let node = 0; node < painter.points.count; node += 1) {
    const distance = (painter.x[node] - x) ** 2 + (painter.y[node] - y) ** 2;
    if (distance < least && scene.showsPoint(node)) [least, nearest] = [distance, node];
  }
  return nearest;
}

function distanceToEdge(painter, group, cell, x, y) {
  const from = group.corners[cell];
  const to = group.corners[group.count + cell];
  const acrossX = painter.x[to] - painter.x[from];
  const acrossY = painter.y[to] - painter.y[from];
  const squared = acrossX ** 2 + acrossY ** 2;
  const along = squared ? ((x - painter.x[from]) * acrossX + (y - painter.y[from]) * acrossY) / squared : 0;
  const share = Math.min(Math.max(along, 0), 1);
  return Math.hypot(painter.x[from] + share * acrossX - x, painter.y[from] + share * acrossY - y);
}

function isMoreProbable(group, cell, than) {
  if (!than) return true;
  return group.prob !== null && than.group.prob !== null && group.prob[cell] > than.group.prob[than.cell];
}

// Even-odd rule.
function isInside(painter, group, cell, x, y) {
  let inside = false;
  for (let place = 0, before = group.length - 1; place < group.length; before = place, place += 1) {
    const one = corner(group, cell, place);
    const two = corner(group, cell, before);
    const crosses = painter.y[one] > y !== painter.y[two] > y;
    if (!crosses) continue;
    const share = (y - painter.y[one]) / (painter.y[two] - painter.y[one]);
    if (x < painter.x[one] + share * (painter.x[two] - painter.x[one])) inside = !inside;
  }
  return inside;
}
