// The interactive drawing: what is shown, and what pointer, wheel and keys do.

const SLOW_FRAME = 24; // milliseconds: beyond this, a moving drawing is the last picture, shifted
const SETTLE = 120;

class Drawing extends EventTarget {
  constructor(canvas, content, colors) {
    super();
    this.canvas = canvas;
    this.points = content.points;
    this.scenes = content.scenes;
    this.polygonNames = content.polygonNames;
    this.polygonWord = content.polygonWord;
    this.colors = colors;
    this.filter = new Filter();
    this.coloring = this.points.labels ? "labels" : "none";
    this.camera = new Camera();
    this.painter = new Painter(canvas, this.points, colors);
    this.still = document.createElement("canvas");
    this.sceneNumber = 0;
    this.momentNumber = this.scenes[0].shown;
    this.selected = null;
    this.highlighted = null;
    this.box = boundingBox(this.points);
    this.lastFrame = 0;
    this.updateCells();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
  }

  get scene() {
    return this.scenes[this.sceneNumber];
  }

  get moment() {
    return this.scene.moments[this.momentNumber];
  }

  // What is shown

  showScene(number) {
    this.sceneNumber = number;
    this.momentNumber = this.scene.shown;
    this.updateCells();
  }

  showMoment(number) {
    this.momentNumber = number;
    this.updateCells();
  }

  updateCells() {
    this.visible = visibleCells(this.moment, this.filter, this.points);
    this.largest = largestProbabilities(this.moment);
    this.highlighted = null;
    this.changed("cells");
  }

  select(node) {
    this.selected = node;
    this.highlighted = null;
    this.changed("selection");
  }

  // The corners of one cell, as indices of drawn points, or null.
  highlight(corners) {
    this.highlighted = corners;
    this.changed("highlight");
  }

  clear() {
    this.selected = null;
    this.highlighted = null;
    this.changed("selection");
  }

  changed(what) {
    this.focus = this.findFocus();
    this.dispatchEvent(new CustomEvent(what));
    this.requestFrame();
  }

  findFocus() {
    if (this.highlighted) {
      const wanted = new Set(this.highlighted);
      const isSide = ({ corners }) => corners.every((node) => wanted.has(node));
      const cells = this.highlighted.flatMap((node) => cellsAt(this.visible, node).filter(isSide));
      return { node: null, nodes: wanted, cells };
    }
    if (this.selected === null) return null;
    const cells = cellsAt(this.visible, this.selected);
    return { node: this.selected, nodes: new Set([this.selected, ...cells.flatMap((item) => item.corners)]), cells };
  }

  colorOf(node) {
    const { labels, predictions, classNames } = this.points;
    if (this.coloring === "none" || !labels) return this.colors.palette.unlabelled;
    if (this.coloring === "right") {
      if (labels[node] < 0 || predictions[node] < 0) return this.colors.palette.unlabelled;
      return this.colors.ofStatus(labels[node] === predictions[node] ? 2 : 1);
    }
    const value = this.valueOf(node);
    if (classNames.length) return this.colors.ofClass(value);
    return Number.isNaN(value) ? this.colors.palette.unlabelled : scaleColor((value - this.low) / (this.high - this.low));
  }

  // The class or value that a point is coloured by.
  valueOf(node) {
    if (this.coloring === "labels") return takenFor(this.points, node);
    return this.points[this.coloring === "truth" ? "labels" : "predictions"][node];
  }

  markOf(node) {
    return this.points.classNames.length && this.coloring !== "right" ? this.colors.markOf(this.valueOf(node)) : "o";
  }

  // Painting

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    const isFirst = this.camera.width === 1;
    const wasFitted = isFirst || Math.abs(this.camera.magnification - 1) < 1e-6;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.camera.resize(width, height);
    if (wasFitted) this.fit();
    this.paint();
  }

  fit() {
    this.camera.fit(this.box, 26);
    this.requestFrame();
  }

  lookAt(nodes) {
    this.camera.lookAt(nodes.map((node) => [this.points.x[node], this.points.y[node]]));
    this.requestFrame();
  }

  requestFrame(isMoving = false) {
    this.isMoving = isMoving;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.isMoving && this.lastFrame > SLOW_FRAME) this.paintShifted();
      else this.paint();
    });
  }

  paint() {
    if (!this.ratio) return;
    const start = performance.now();
    this.painter.place(this.camera);
    this.painter.paint(this.picture(), this.ratio);
    this.lastFrame = performance.now() - start;
    this.still.width = this.canvas.width;
    this.still.height = this.canvas.height;
    this.still.getContext("2d").drawImage(this.canvas, 0, 0);
    this.stillCamera = { ...this.camera };
  }

  picture() {
    return {
      visible: this.visible,
      largest: this.largest,
      focus: this.focus,
      showsPoint: (node) => this.filter.showsPoint(this.points, node),
      colorOf: (node) => this.colorOf(node),
      markOf: (node) => this.markOf(node),
      isGuess: (node) => isGuess(this.points, node),
    };
  }

  // The last picture, moved to where it belongs now; a sharp one follows when the movement pauses.
  paintShifted() {
    const pen = this.painter.pen;
    const growth = this.camera.scale / this.stillCamera.scale;
    const left = this.camera.left - growth * this.stillCamera.left;
    const top = this.camera.top - growth * this.stillCamera.top;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.setTransform(growth, 0, 0, growth, left * this.ratio, top * this.ratio);
    pen.drawImage(this.still, 0, 0);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.requestFrame(), SETTLE);
  }

  move(byX, byY) {
    this.camera.pan(byX, byY);
    this.requestFrame(true);
  }

  zoom(factor, x, y) {
    this.camera.zoom(factor, x, y);
    this.requestFrame(true);
  }

  // Pointer, wheel, keys

  listen() {
    const canvas = this.canvas;
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.pointerUp(event));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", (event) => this.zoom(2, ...this.place(event)));
  }

  place(event) {
    const frame = this.canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  pointerDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.place(event));
    this.travelled = 0;
  }

  pointerMove(event) {
    const [x, y] = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(pick(this.painter, this.picture(), x, y), event);
      return;
    }
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const [, [otherX, otherY]] = others[0];
      const grown = Math.hypot(x - otherX, y - otherY) / Math.max(Math.hypot(before[0] - otherX, before[1] - otherY), 1);
      this.zoom(grown, otherX, otherY);
    } else {
      this.move(x - before[0], y - before[1]);
    }
    this.travelled += Math.hypot(x - before[0], y - before[1]);
    this.pointers.set(event.pointerId, [x, y]);
  }

  pointerUp(event) {
    const wasDown = this.pointers.delete(event.pointerId);
    if (!wasDown || event.type === "pointercancel" || this.travelled > 5) {
      this.requestFrame();
      return;
    }
    const found = pick(this.painter, this.picture(), ...this.place(event));
    if (!found) this.clear();
    else if (found.kind === "point") this.select(found.node);
    else this.highlight(cornersOf(found.group, found.cell));
  }

  hover(found, event = null) {
    this.hovered = found;
    this.canvas.style.cursor = found ? "pointer" : "grab";
    this.dispatchEvent(new CustomEvent("hover", { detail: { found, event } }));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...this.place(event));
  }

  key(event) {
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) this.move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.clear();
    else if (event.key.toLowerCase() === "n") this.step(1);
    else if (event.key.toLowerCase() === "p") this.step(-1);
    else return;
    event.preventDefault();
  }

  // The next visible point after the selected one, in the order of the numbers.
  step(by) {
    const { count } = this.points;
    let node = this.selected ?? (by > 0 ? -1 : count);
    for (let tries = 0; tries < count; tries += 1) {
      node = (node + by + count) % count;
      if (this.filter.showsPoint(this.points, node)) break;
    }
    this.select(node);
  }
}

function boundingBox(points) {
  const box = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (let node = 0; node < points.count; node += 1) {
    box.left = Math.min(box.left, points.x[node]);
    box.right = Math.max(box.right, points.x[node]);
    box.low = Math.min(box.low, points.y[node]);
    box.high = Math.max(box.high, points.y[node]);
  }
  return points.count ? box : { left: -1, right: 1, low: -1, high: 1 };
}
