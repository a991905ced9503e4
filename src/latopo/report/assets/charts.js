// Curves over the epochs and the histogram of the degrees, as SVG. Colours are the style sheet's, so a change of theme
// needs no new drawing.

const CHART_HEIGHT = 220;
const SIGN_WIDTH = 7; // pixels, of the axes' font
const MOST_BARS = 40;

// Round numbers that cover a range, `most` of them or fewer.
function roundTicks(low, high, most) {
  const rough = Math.max(high - low, 1e-12) / (most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
  const digits = Math.max(-Math.floor(Math.log10(step) + 1e-9), 0);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const values = Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
  return values.map((value) => ({ value, text: numberText(value, digits) }));
}

function numberText(value, digits) {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
}

// Axes and grid. x and y turn values into pixels; `ticks` of the x axis are [value, text].
class ChartFrame {
  constructor(place, yRange, unit, xTitle) {
    this.width = Math.max(place.clientWidth, 160);
    const rows = roundTicks(...yRange, 5);
    this.left = 10 + SIGN_WIDTH * Math.max(...rows.map(({ text }) => text.length + unit.length));
    this.bottom = CHART_HEIGHT - 38;
    this.low = rows[0].value;
    this.high = rows.at(-1).value;
    this.parts = rows.flatMap(({ value, text }) => [
      svgElement("line", { class: "grid", x1: this.left, x2: this.width - 8, y1: this.y(value), y2: this.y(value) }),
      svgElement("text", { x: this.left - 6, y: this.y(value) + 4, "text-anchor": "end" }, text + unit),
    ]);
    this.parts.push(svgElement("text", { x: (this.left + this.width - 8) / 2, y: CHART_HEIGHT - 4, "text-anchor": "middle" }, xTitle));
  }

  y(value) {
    return this.bottom - ((value - this.low) / (this.high - this.low)) * (this.bottom - 10);
  }

  // From a share of the width to a pixel.
  across(share) {
    return this.left + 4 + share * (this.width - this.left - 16);
  }

  label(x, text) {
    this.parts.push(svgElement("text", { x, y: this.bottom + 16, "text-anchor": "middle" }, text));
  }

  // stops: [{x, title, lines}], places that the pointer and the arrow keys can read.
  show(place, label, stops) {
    const rule = svgElement("line", { class: "rule", y1: 8, y2: this.bottom, visibility: "hidden" });
    const picture = svgElement("svg", { viewBox: `0 0 ${this.width} ${CHART_HEIGHT}`, role: "img", tabindex: 0, "aria-label": label }, ...this.parts, rule);
    let now = -1;
    const read = (number) => {
      now = Math.min(Math.max(number, 0), stops.length - 1);
      const { x, title, lines } = stops[now];
      for (const [name, value] of [["x1", x], ["x2", x], ["visibility", "visible"]]) rule.setAttribute(name, value);
      const { left, top, width } = picture.getBoundingClientRect();
      showTip(left + (x * width) / this.width, top + 40, [element("strong", { textContent: title }), ...lines.map((line) => element("div", { textContent: line }))]);
    };
    const leave = () => {
      rule.setAttribute("visibility", "hidden");
      hideTip();
    };
    for (const name of ["pointermove", "pointerdown"]) {
      picture.addEventListener(name, (event) => {
        const { left, width } = picture.getBoundingClientRect();
        const at = ((event.clientX - left) * this.width) / width;
        read(stops.reduce((best, { x }, number) => (Math.abs(x - at) < Math.abs(stops[best].x - at) ? number : best), 0));
      });
    }
    for (const name of ["pointerleave", "blur"]) picture.addEventListener(name, leave);
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) read(now + step);
      else if (event.key === "Escape") leave();
      if (step) event.preventDefault();
    });
    place.replaceChildren(picture);
  }
}

// Draws now and whenever the place gets another width.
function drawInto(place, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
}

function drawCurves(charts) {
  for (const chart of charts) {
    const place = element("div", { className: "chart" });
    const bold = chart.series.filter((line) => !line.faint);
    const figure = element("figure", { className: "panel" }, element("h3", { textContent: chart.title }),
      element("figcaption", { textContent: chart.explanation }));
    if (bold.length > 1) figure.append(chartLegend(bold));
    figure.append(place);
    document.getElementById("charts").append(figure);
    drawInto(place, () => drawCurve(place, chart, bold));
  }
}

function chartLegend(lines) {
  const entries = lines.map((line) => element("span", {}, element("span", { className: `key ${lineClass(line)}` }), line.name));
  return element("p", { className: "legend" }, ...entries);
}

function lineClass({ color, dash, faint }) {
  return `curve-${color}${dash ? " dash" : ""}${faint ? " faint" : ""}`;
}

function drawCurve(place, chart, bold) {
  const unit = chart.percent ? " %" : "";
  const epochs = [...new Set(chart.series.flatMap((line) => line.x))].sort((one, two) => one - two);
  const [first, last] = [epochs[0], epochs.at(-1)];
  const frame = new ChartFrame(place, valueRange(chart), unit, "epoch");
  const x = (epoch) => frame.across(last > first ? (epoch - first) / (last - first) : 0.5);
  for (const { value, text } of roundTicks(first, last, 6)) {
    if (value >= first && value <= last && Number.isInteger(value)) frame.label(x(value), text);
  }
  for (const line of chart.series) {
    const points = line.x.map((epoch, place) => `${x(epoch).toFixed(1)},${frame.y(line.y[place]).toFixed(1)}`);
    frame.parts.push(svgElement("polyline", { class: `curve ${lineClass(line)}`, points: points.join(" ") }));
  }
  const stops = epochs.map((epoch) => ({ x: x(epoch), title: `epoch ${epoch}`, lines: bold.flatMap((line) => valueAt(line, epoch, unit)) }));
  frame.show(place, chartLabel(chart, bold, unit), stops.filter(({ lines }) => lines.length));
}

function valueAt(line, epoch, unit) {
  const place = line.x.indexOf(epoch);
  return place < 0 ? [] : [`${line.name}: ${line.y[place].toLocaleString("en", { maximumSignificantDigits: 4 })}${unit}`];
}

function valueRange({ series, fromZero }) {
  const values = series.flatMap((line) => line.y);
  const low = Math.min(...values, ...(fromZero ? [0] : []));
  const high = Math.max(...values);
  return high > low ? [low, high] : [low - (Math.abs(low) / 10 || 1), high];
}

function chartLabel(chart, lines, unit) {
  const ends = lines.map((line) => `${line.name}: from ${line.y[0]}${unit} to ${line.y.at(-1)}${unit}`);
  return `${chart.title} over the epochs. ${ends.join("; ")}`;
}

// Bars for 0, 1, 2, … neighbours; the last bar collects the rare large degrees.
function drawDegrees(place, degrees) {
  const sorted = Array.from(degrees).sort((one, two) => one - two);
  const usual = sorted[Math.floor(0.99 * (sorted.length - 1))] ?? 0;
  const step = 1 + Math.floor(usual / MOST_BARS);
  const bars = Math.floor(usual / step) + 2;
  const counts = new Array(bars).fill(0);
  for (const degree of sorted) counts[Math.min(Math.floor(degree / step), bars - 1)] += 1;
  if (!counts.at(-1)) counts.pop();
  const names = counts.map((_, bar) => {
    if (bar === bars - 1) return `≥ ${bar * step}`;
    return step === 1 ? String(bar) : `${bar * step}–${(bar + 1) * step - 1}`;
  });
  const shares = counts.map((count) => (100 * count) / Math.max(sorted.length, 1));
  const frame = new ChartFrame(place, [0, Math.max(...shares)], " %", "neighbours");
  const width = frame.across(1 / counts.length) - frame.across(0);
  const longest = SIGN_WIDTH * (Math.max(...names.map((name) => name.length)) + 1);
  const every = Math.ceil(longest / width); // as many names as fit
  const stops = counts.map((count, bar) => {
    const x = frame.across((bar + 0.5) / counts.length);
    const top = frame.y(shares[bar]);
    frame.parts.push(svgElement("rect", { class: "bar-mark", x: x - 0.42 * width, width: 0.84 * width, y: top, height: frame.bottom - top }));
    if (bar % every === 0) frame.label(x, names[bar]);
    return { x, title: `${names[bar]} neighbours`, lines: [`${countText(count)} points (${percentText(count / Math.max(sorted.length, 1))})`] };
  });
  frame.show(place, "Histogram of the degrees", stops);
}
