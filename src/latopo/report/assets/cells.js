// Which cells are visible: those of a moment that pass the filters.

class Filter {
  constructor() {
    this.hiddenClasses = new Set();
    this.hiddenLengths = new Set();
    this.hiddenStatuses = new Set();
    this.leastEdge = 0;
    this.leastPolygon = 0;
  }

  showsPoint(points, node) {
    return !points.labels || this.hiddenClasses.size === 0 || !this.hiddenClasses.has(takenFor(points, node));
  }

  least(length) {
    return length === 2 ? this.leastEdge : this.leastPolygon;
  }
}

// Whether the label of a point is not known to the model, so that its prediction stands for it.
function isGuess(points, node) {
  return Boolean(points.labelled && points.predictions && !points.labelled[node]);
}

// A point's class or value: its label, or its prediction.
function takenFor(points, node) {
  return (isGuess(points, node) ? points.predictions : points.labels)[node];
}

// Corner number `place` of cell `cell`: corners are stored column by column.
function corner(group, cell, place) {
  return group.corners[place * group.count + cell];
}

function cornersOf(group, cell) {
  return Array.from({ length: group.length }, (_, place) => corner(group, cell, place));
}

// For each group of a moment, the indices of its visible cells.
function visibleCells(moment, filter, points) {
  const shown = Uint8Array.from({ length: points.count }, (_, node) => (filter.showsPoint(points, node) ? 1 : 0));
  return moment.groups.map((group) => {
    const cells = [];
    if (filter.hiddenLengths.has(group.length)) return { group, cells };
    const least = filter.least(group.length);
    for (let cell = 0; cell < group.count; cell += 1) {
      if (group.prob && group.prob[cell] < least) continue;
      if (group.status && filter.hiddenStatuses.has(group.status[cell])) continue;
      let whole = true;
      for (let place = 0; place < group.length && whole; place += 1) whole = shown[corner(group, cell, place)] === 1;
      if (whole) cells.push(cell);
    }
    return { group, cells };
  });
}

// The largest probabilities of edges and polygons; opacity is relative to them.
function largestProbabilities(moment) {
  const largest = { edge: 0, polygon: 0 };
  for (const group of moment.groups) {
    if (!group.prob) continue;
    const kind = group.length === 2 ? "edge" : "polygon";
    for (const probability of group.prob) largest[kind] = Math.max(largest[kind], probability);
  }
  return largest;
}

// The cells at one node, most probable first: [{group, cell, corners, probability}].
function cellsAt(visible, node) {
  const found = [];
  for (const { group, cells } of visible) {
    for (const cell of cells) {
      for (let place = 0; place < group.length; place += 1) {
        if (corner(group, cell, place) !== node) continue;
        found.push({ group, cell, corners: cornersOf(group, cell), probability: group.prob ? group.prob[cell] : null });
        break;
      }
    }
  }
  return found.sort((one, two) => (two.probability ?? 0) - (one.probability ?? 0));
}
