// Paints points and cells on a canvas. Cells of nearly the same opacity share a path, which is what makes it fast.

const LEVELS = 8;
// What is out of focus shows through a veil. Fainter cells instead would all turn grey: a screen has only 256 steps.
const VEIL = 0.86;
const FAINTEST = 0.04;
const LIGHT = 0.7; // opacity of predictions beside labels

class Painter {
  constructor(canvas, points, colors) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.points = points;
    this.colors = colors;
    this.x = new Float32Array(points.count);
    this.y = new Float32Array(points.count);
  }

  place(camera) {
    for (let node = 0; node < this.points.count; node += 1) {
      this.x[node] = camera.x(this.points.x[node]);
      this.y[node] = camera.y(this.points.y[node]);
    }
    this.camera = camera;
    // Few points get large dots, small screens small ones. Zooming in makes dots grow, but more slowly than distances.
    const room = Math.min(Math.max(Math.min(camera.width, camera.height) / 560, 0.5), 1);
    const base = room * Math.min(Math.max(95 / Math.sqrt(this.points.count + 1), 2.2), 8);
    this.radius = Math.min(base * Math.sqrt(camera.magnification), 14);
  }

  // scene: {visible, largest, focus, showsPoint, colorOf, markOf, isGuess}; focus: {nodes: Set, cells: [...], node} or null.
  paint(scene, ratio) {
    const pen = this.pen;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.camera.width, this.camera.height);
    pen.lineJoin = "round";
    for (const part of [...scene.visible].reverse()) this.paintGroup(part, scene.largest);
    this.paintPoints(scene, () => true);
    if (scene.focus) this.paintFocus(scene);
  }

  paintFocus(scene) {
    const { focus, largest } = scene;
    this.pen.globalAlpha = VEIL;
    this.pen.fillStyle = cssVariable("--surface");
    this.pen.fillRect(0, 0, this.camera.width, this.camera.height);
    this.pen.globalAlpha = 1;
    this.paintFocusedCells(focus, largest);
    this.paintPoints(scene, (node) => focus.nodes.has(node));
    if (focus.node !== null) this.ring(focus.node);
    this.paintNames(focus);
  }

  paintGroup({ group, cells }, largest) {
    const isEdge = group.length === 2;
    const largestHere = isEdge ? largest.edge : largest.polygon;
    const statuses = group.status ? [0, 1, 2] : [null];
    for (const status of statuses) {
      const color = status === null ? this.colors.ofCell(group.length) : this.colors.ofStatus(status);
      const levels = Array.from({ length: LEVELS }, () => []);
      for (const cell of cells) {
        if (status !== null && group.status[cell] !== status) continue;
        if (!this.isInView(group, cell)) continue;
        const strength = group.prob && largestHere > 0 ? Math.sqrt(group.prob[cell] / largestHere) : 1;
        levels[Math.min(Math.floor(strength * LEVELS), LEVELS - 1)].push(cell);
      }
      // With two complexes at once, both must show through.
      const most = this.mostOpaque(isEdge, cells.length) * (status === null || isEdge ? 1 : 0.5);
      levels.forEach((members, level) => {
        const opacity = Math.max(most * (0.2 + (0.8 * (level + 1)) / LEVELS), FAINTEST);
        if (isEdge) this.strokeEdges(group, members, css(color, opacity), this.edgeWidth());
        else this.fillPolygons(group, members, css(color, opacity));
      });
    }
  }

  // Where many cells overlap each must be fainter, or together they become one blot.
  mostOpaque(isEdge, count) {
    const room = count / this.camera.magnification ** 1.5;
    return isEdge ? 0.85 * Math.min(1, Math.sqrt(5000 / room)) : 0.42 * Math.min(1, (600 / room) ** 0.75);
  }

  edgeWidth() {
    return Math.min(Math.max(this.radius / 4.5, 0.7), 2.4);
  }

  isInView(group, cell) {
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (let place = 0; place < group.length; place += 1) {
      const node = corner(group, cell, place);
      left = Math.min(left, this.x[node]);
      right = Math.max(right, this.x[node]);
      top = Math.min(top, this.y[node]);
      bottom = Math.max(bottom, this.y[node]);
    }
    return right > 0 && left < this.camera.width && bottom > 0 && top < this.camera.height;
  }

  strokeEdges(group, cells, style, width) {
    if (!cells.length) return;
    const pen = this.pen;
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.beginPath();
    for (const cell of cells) {
      const from = group.corners[cell];
      const to = group.corners[group.count + cell];
      pen.moveTo(this.x[from], this.y[from]);
      pen.lineTo(this.x[to], this.y[to]);
    }
    pen.stroke();
  }

  // One path each, so that overlapping polygons add up.
  fillPolygons(group, cells, style) {
    this.pen.fillStyle = style;
    for (const cell of cells) {
      this.tracePolygon(group, cell);
      this.pen.fill();
    }
  }

  tracePolygon(group, cell) {
    const pen = this.pen;
    pen.beginPath();
    for (let place = 0; place < group.length; place += 1) {
      const node = corner(group, cell, place);
      if (place) pen.lineTo(this.x[node], this.y[node]);
      else pen.moveTo(this.x[node], this.y[node]);
    }
    pen.closePath();
  }

  paintFocusedCells(focus, largest) {
    const pen = this.pen;
    for (const { group, cell } of [...focus.cells].sort((one, two) => two.group.length - one.group.length)) {
      const status = group.status ? group.status[cell] : null;
      const color = status === null ? this.colors.ofCell(group.length) : this.colors.ofStatus(status);
      const most = group.length === 2 ? largest.edge : largest.polygon;
      const strength = group.prob && most > 0 ? Math.sqrt(group.prob[cell] / most) : 1;
      if (group.length === 2) {
        this.strokeEdges(group, [cell], css(color, 0.4 + 0.6 * strength), this.edgeWidth() + 0.8);
        continue;
      }
      this.tracePolygon(group, cell);
      pen.fillStyle = css(color, 0.15 + 0.35 * strength);
      pen.fill();
      pen.strokeStyle = css(color, 0.9);
      pen.lineWidth = this.edgeWidth();
      pen.stroke();
    }
  }

  paintPoints(scene, isWanted) {
    const looks = new Map();
    for (let node = 0; node < this.points.count; node += 1) {
      if (!isWanted(node) || !scene.showsPoint(node) || this.isOutside(node)) continue;
      const mark = scene.markOf(node);
      const color = scene.colorOf(node);
      const isGuess = scene.isGuess(node);
      const key = `${mark}${css(color)}${isGuess}`;
      if (!looks.has(key)) looks.set(key, { mark, color, isGuess, nodes: [] });
      looks.get(key).nodes.push(node);
    }
    const order = [...looks.values()].sort((one, two) => two.isGuess - one.isGuess);
    for (const look of order) this.paintLook(look, order.some(({ isGuess }) => isGuess));
  }

  // Points of one look. Beside predictions, points with a label are larger and outlined; predictions are lighter.
  paintLook({ mark, color, isGuess, nodes }, isMixed) {
    const pen = this.pen;
    const surface = cssVariable("--surface");
    const isLabelled = isMixed && !isGuess;
    const radius = isLabelled ? Math.max(1.4 * this.radius, 4.5) : this.radius;
    pen.beginPath();
    for (const node of nodes) this.traceMark(mark, this.x[node], this.y[node], radius);
    pen.fillStyle = isGuess ? surface : css(color);
    pen.fill();
    if (isGuess) {
      pen.fillStyle = css(color, LIGHT);
      pen.fill();
    }
    pen.strokeStyle = isLabelled ? cssVariable("--text") : isGuess ? css(color) : surface;
    pen.lineWidth = isLabelled ? 1.6 : Math.min(this.radius / 4, 1.2);
    if (isLabelled || this.radius > 3) pen.stroke();
  }

  isOutside(node) {
    const margin = 20;
    const { width, height } = this.camera;
    return this.x[node] < -margin || this.x[node] > width + margin || this.y[node] < -margin || this.y[node] > height + margin;
  }

  traceMark(mark, x, y, radius) {
    const corners = MARKS[mark];
    const pen = this.pen;
    if (!corners) {
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      return;
    }
    corners.forEach(([byX, byY], place) => {
      if (place) pen.lineTo(x + radius * byX, y + radius * byY);
      else pen.moveTo(x + radius * byX, y + radius * byY);
    });
    pen.closePath();
  }

  ring(node) {
    const pen = this.pen;
    pen.strokeStyle = cssVariable("--text");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(this.x[node], this.y[node], this.radius + 4, 0, 2 * Math.PI);
    pen.stroke();
  }

  paintNames(focus) {
    if (focus.nodes.size > 12) return;
    const pen = this.pen;
    pen.font = "12px system-ui, sans-serif";
    pen.lineWidth = 3;
    pen.strokeStyle = cssVariable("--surface");
    pen.fillStyle = cssVariable("--text");
    const middle = [...focus.nodes].reduce((sum, node) => sum + this.x[node], 0) / focus.nodes.size;
    for (const node of focus.nodes) {
      const side = this.x[node] < middle ? -1 : 1;
      pen.textAlign = side < 0 ? "right" : "left";
      const place = [this.x[node] + side * (this.radius + 5), this.y[node] + 4];
      const name = shortName(pointName(this.points, node), 24);
      pen.strokeText(name, ...place);
      pen.fillText(name, ...place);
    }
  }
}

function pointName(points, node) {
  return points.names ? points.names[node] : String(points.numbers[node]);
}

function shortName(name, most) {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
