// Colours of classes and cells, for light and dark pages and for two palettes.

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return !printing && (chosen ? chosen === "dark" : darkQuery.matches);
}

function cssVariable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Deep colours vanish on a dark page and pale ones on a light page: mix in white or black until they stand out.
function readable(color, dark) {
  const luminance = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2];
  const aim = dark ? Math.max(luminance, 0.42) : Math.min(luminance, 0.78);
  if (aim === luminance) return color;
  const goal = dark ? 1 : 0;
  const share = (aim - luminance) / (goal - luminance);
  return color.map((part) => part + share * (goal - part));
}

function css(color, alpha = 1) {
  const [red, green, blue] = color.map((part) => Math.round(255 * part));
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

const SCALE = [[0.27, 0.0, 0.33], [0.23, 0.32, 0.55], [0.13, 0.57, 0.55], [0.37, 0.79, 0.38], [0.99, 0.91, 0.14]];

function scaleColor(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(place), SCALE.length - 2);
  return SCALE[low].map((part, axis) => part + (place - low) * (SCALE[low + 1][axis] - part));
}

// Corners of the marks, about a circle of radius 1; a circle has none.
const MARKS = {
  o: null,
  s: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  "^": [[0, -1.15], [1.05, 0.75], [-1.05, 0.75]],
  D: [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
  v: [[0, 1.15], [-1.05, -0.75], [1.05, -0.75]],
  P: [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1],
    [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]],
  X: [[-1.05, -0.55], [-0.55, -1.05], [0, -0.5], [0.55, -1.05], [1.05, -0.55], [0.5, 0], [1.05, 0.55], [0.55, 1.05],
    [0, 0.5], [-0.55, 1.05], [-1.05, 0.55], [-0.5, 0]],
};

class Colors {
  constructor(palettes, classCount, lengths) {
    this.palettes = palettes;
    this.classCount = classCount;
    this.lengths = lengths;
    this.use("paper");
  }

  use(name) {
    this.palette = this.palettes[name];
    this.refresh();
  }

  // Also sets variables of the style sheet, for dots in the text.
  refresh() {
    const style = document.documentElement.style;
    for (let code = 0; code < this.classCount; code += 1) style.setProperty(`--class-${code}`, css(this.ofClass(code)));
    for (const length of this.lengths) style.setProperty(`--polygon-${length}`, css(this.ofCell(length)));
    style.setProperty("--polygon-2", css(this.ofCell(2)));
    style.setProperty("--unlabelled", css(this.palette.unlabelled));
  }

  ofClass(code) {
    const colors = this.palette.classes;
    return code < 0 ? this.palette.unlabelled : readable(colors[code % colors.length], isDark());
  }

  ofCell(length) {
    const { edge, polygons } = this.palette;
    return readable(length === 2 ? edge : polygons[Math.min(length - 3, polygons.length - 1)], isDark());
  }

  markOf(code) {
    return code < 0 ? "o" : this.palette.marks[code % this.palette.marks.length];
  }

  ofStatus(status) {
    return readable([[0.55, 0.58, 0.62], [0.85, 0.37, 0.01], [0.05, 0.45, 0.75]][status], isDark());
  }
}
