// From the layout's coordinates (−1 to 1, y upwards) to pixels (y downwards), and back.

class Camera {
  constructor() {
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.width = 1;
    this.height = 1;
  }

  resize(width, height) {
    this.left += (width - this.width) / 2;
    this.top += (height - this.height) / 2;
    this.width = width;
    this.height = height;
  }

  // Fits the bounding box of the points into the window, with a margin.
  fit(box, margin) {
    const across = Math.max(box.right - box.left, 1e-6);
    const down = Math.max(box.high - box.low, 1e-6);
    const room = Math.max(Math.min(this.width, this.height) - 2 * margin, 20);
    this.scale = Math.min((this.width - 2 * margin) / across, (this.height - 2 * margin) / down);
    if (!(this.scale > 0)) this.scale = room / 2;
    this.scale = Math.min(this.scale, room * 4);
    this.fitted = this.scale;
    this.left = this.width / 2 - (this.scale * (box.left + box.right)) / 2;
    this.top = this.height / 2 + (this.scale * (box.low + box.high)) / 2;
  }

  x(worldX) {
    return this.left + this.scale * worldX;
  }

  y(worldY) {
    return this.top - this.scale * worldY;
  }

  pan(byX, byY) {
    this.left += byX;
    this.top += byY;
  }

  zoom(factor, aroundX = this.width / 2, aroundY = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitted / 4), this.fitted * 400);
    const ratio = scale / this.scale;
    this.left = aroundX - ratio * (aroundX - this.left);
    this.top = aroundY - ratio * (aroundY - this.top);
    this.scale = scale;
  }

  // Brings some places (layout coordinates) to the middle, close enough to tell them apart.
  lookAt(places) {
    const xs = places.map(([x]) => x);
    const ys = places.map(([, y]) => y);
    const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1e-9);
    const wanted = (0.35 * Math.min(this.width, this.height)) / size;
    this.scale = Math.min(Math.max(this.scale, wanted), this.fitted * 12);
    if (size * this.scale > 0.8 * Math.min(this.width, this.height)) this.scale = Math.max(wanted, this.fitted);
    this.left = this.width / 2 - (this.scale * (Math.max(...xs) + Math.min(...xs))) / 2;
    this.top = this.height / 2 + (this.scale * (Math.max(...ys) + Math.min(...ys))) / 2;
  }

  get magnification() {
    return this.scale / this.fitted;
  }
}
