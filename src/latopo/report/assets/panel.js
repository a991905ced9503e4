// Everything around the drawing: legend and filters, the timeline, the selected point, the tooltip.

const PLAY_PAUSE = 900;
const MOST_LISTED = 60;
const MOST_COMPARED = 5;

class Panel {
  constructor(drawing) {
    this.drawing = drawing;
    this.points = drawing.points;
    this.byId = (id) => document.getElementById(id);
    if (!this.points.classNames.length && this.points.labels) this.findRange();
    this.buildScenes();
    this.buildTimeline();
    this.buildClasses();
    this.buildKinds();
    this.buildStatuses();
    this.buildProbabilities();
    this.buildColoring();
    this.buildSearch();
    this.buildZoom();
    drawing.addEventListener("cells", () => this.showMoment());
    drawing.addEventListener("selection", () => this.showSelected());
    drawing.addEventListener("highlight", () => this.showSelected());
    drawing.addEventListener("hover", (event) => this.showTip(event.detail));
    this.showMoment();
  }

  name(node) {
    return pointName(this.points, node);
  }

  labelText(value) {
    const { classNames } = this.points;
    if (classNames.length) return value < 0 ? "unknown" : classNames[value];
    return Number.isNaN(value) ? "unknown" : Number(value.toPrecision(4)).toString();
  }

  cellName(length) {
    if (length === 2) return "edges";
    return this.drawing.polygonNames[length];
  }

  findRange() {
    let low = Infinity;
    let high = -Infinity;
    for (const value of this.points.labels) {
      if (Number.isNaN(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    this.drawing.low = low;
    this.drawing.high = high > low ? high : low + 1;
  }

  // Scenes and moments

  buildScenes() {
    const { scenes } = this.drawing;
    const box = this.byId("scenes");
    box.hidden = scenes.length < 2;
    scenes.forEach((scene, number) => {
      const choice = element("input", { type: "radio", name: "scene", value: String(number), checked: number === 0 });
      choice.addEventListener("change", () => {
        this.stop();
        this.drawing.showScene(number);
      });
      box.append(element("label", {}, choice, element("span", { textContent: scene.name })));
    });
  }

  buildTimeline() {
    this.slider = this.byId("moment");
    this.slider.addEventListener("input", () => {
      this.stop();
      this.drawing.showMoment(Number(this.slider.value));
    });
    this.byId("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  play() {
    const last = this.drawing.scene.moments.length - 1;
    if (this.drawing.momentNumber >= last) this.drawing.showMoment(0);
    this.timer = setInterval(() => {
      if (this.drawing.momentNumber >= last) this.stop();
      else this.drawing.showMoment(this.drawing.momentNumber + 1);
    }, PLAY_PAUSE);
    this.markPlay("⏸", "Pause");
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.markPlay("▶", "Play the training");
  }

  markPlay(sign, label) {
    const button = this.byId("play");
    button.firstElementChild.textContent = sign;
    button.setAttribute("aria-label", label);
  }

  showMoment() {
    const { scene, moment, momentNumber } = this.drawing;
    this.byId("timeline").hidden = scene.moments.length < 2;
    this.slider.max = String(scene.moments.length - 1);
    this.slider.value = String(momentNumber);
    this.slider.setAttribute("aria-valuetext", moment.title);
    this.byId("moment-name").textContent = moment.title;
    this.byId("statuses").hidden = !moment.groups.some((group) => group.status);
    const leftOut = this.byId("left-out");
    const notes = [...moment.leftOut];
    if (this.points.count < this.drawing.total) {
      notes.unshift(`${countText(this.points.count)} of ${countText(this.drawing.total)} points, in connected patches`);
    }
    leftOut.hidden = !notes.length;
    leftOut.textContent = `Drawn: ${notes.join("; ")}.`;
    this.showFacts(moment);
    this.showCounts();
    this.showSelected();
    this.drawing.canvas.setAttribute("aria-label", this.describe());
  }

  describe() {
    const counts = this.drawing.visible.map(({ group, cells }) => `${countText(cells.length)} ${this.cellName(group.length)}`);
    return `Drawing of the complex, ${this.drawing.moment.title}: ${countText(this.points.count)} points, ${counts.join(", ")}`;
  }

  showFacts(moment) {
    const { facts } = moment;
    const box = this.byId("moment-facts");
    box.replaceChildren();
    if (!facts) return;
    const entries = [
      ["edges", countText(facts.edges)],
      ["polygons", countText(facts.polygons)],
      ["neighbours per point", facts.degree.toFixed(1)],
      ["edges within a class", percentText(facts.homophily)],
      ["polygons within a class", percentText(facts.purity)],
      ["correlation of values", facts.correlation === null ? "–" : facts.correlation.toFixed(2)],
      ["pieces", countText(facts.betti[0])],
      ["holes", countText(facts.betti[1])],
    ];
    for (const [name, value] of entries) {
      if (value === "–") continue;
      box.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })));
    }
  }

  // Filters

  check(parent, label, swatch, onChange) {
    const box = element("input", { type: "checkbox", checked: true });
    const count = element("span", { className: "count" });
    box.addEventListener("change", () => {
      onChange(box.checked);
      this.drawing.updateCells();
    });
    const text = element("span", { className: "name", textContent: label, title: label });
    parent.append(element("label", { className: "check" }, box, swatch, text, count));
    return { box, count };
  }

  toggle(set, value) {
    return (isShown) => (isShown ? set.delete(value) : set.add(value));
  }

  buildClasses() {
    const { classNames, labels } = this.points;
    const parent = this.byId("classes");
    if (!labels) {
      parent.hidden = true;
      return;
    }
    if (!classNames.length) {
      parent.append(this.scaleLegend());
      this.buildLookLegend(parent);
      return;
    }
    const codes = classNames.map((_, code) => code);
    const taken = Array.from({ length: this.points.count }, (_, node) => takenFor(this.points, node));
    if (taken.includes(-1)) codes.push(-1);
    this.classMarks = [];
    for (const code of codes) {
      const swatch = markSwatch(this.drawing.colors, code);
      this.classMarks.push({ swatch, code });
      const { count, box } = this.check(parent, this.labelText(code), swatch, this.toggle(this.drawing.filter.hiddenClasses, code));
      box.dataset.class = String(code);
      count.textContent = countText(taken.filter((label) => label === code).length);
    }
    this.buildLookLegend(parent);
  }

  // What outlined and light points are, where there are both.
  buildLookLegend(parent) {
    const { labelled, predictions } = this.points;
    if (!labelled || !predictions) return;
    const known = labelled.reduce((sum, one) => sum + one, 0);
    for (const [look, name, count] of [["outlined", "labelled", known], ["light", "predicted", this.points.count - known]]) {
      parent.append(element("p", { className: "check look" }, element("span", { className: `dot ${look}` }),
        element("span", { className: "name", textContent: name }), element("span", { className: "count", textContent: countText(count) })));
    }
  }

  scaleLegend() {
    const steps = Array.from({ length: 11 }, (_, step) => css(scaleColor(step / 10)));
    const bar = element("div", { className: "scale" });
    bar.style.background = `linear-gradient(to right, ${steps.join(", ")})`;
    const ends = element("div", { className: "ends" });
    ends.append(
      element("span", { textContent: this.labelText(this.drawing.low) }),
      element("span", { textContent: this.labelText(this.drawing.high) }),
    );
    return element("div", {}, bar, ends);
  }

  buildKinds() {
    const lengths = new Set([2]);
    for (const scene of this.drawing.scenes) {
      for (const moment of scene.moments) for (const group of moment.groups) lengths.add(group.length);
    }
    this.kindCounts = new Map();
    for (const length of [...lengths].sort((one, two) => one - two)) {
      const swatch = element("span", { className: length === 2 ? "swatch edge" : "swatch" });
      swatch.style.setProperty("--color", `var(--polygon-${length})`);
      const { count, box } = this.check(this.byId("kinds"), this.cellName(length), swatch, this.toggle(this.drawing.filter.hiddenLengths, length));
      box.dataset.length = String(length);
      this.kindCounts.set(length, count);
    }
  }

  buildStatuses() {
    ["in both", "only in A", "only in B"].forEach((name, status) => {
      const swatch = element("span", { className: "swatch" });
      swatch.style.setProperty("--color", css(this.drawing.colors.ofStatus(status)));
      const { box } = this.check(this.byId("statuses"), name, swatch, this.toggle(this.drawing.filter.hiddenStatuses, status));
      box.dataset.status = String(status);
    });
  }

  showCounts() {
    for (const [length, count] of this.kindCounts) {
      const part = this.drawing.visible.find(({ group }) => group.length === length);
      count.textContent = countText(part ? part.cells.length : 0);
    }
  }

  buildProbabilities() {
    const ranges = { edge: [Infinity, 0], polygon: [Infinity, 0] };
    for (const scene of this.drawing.scenes) {
      for (const moment of scene.moments) {
        for (const group of moment.groups) this.widen(ranges[group.length === 2 ? "edge" : "polygon"], group.prob ?? []);
      }
    }
    const parent = this.byId("probabilities");
    for (const [kind, [least, most]] of Object.entries(ranges)) {
      if (least < most) parent.append(this.probabilitySlider(kind, least, most));
    }
    parent.hidden = parent.childElementCount < 2;
  }

  widen(range, values) {
    for (const value of values) {
      if (value > 0) range[0] = Math.min(range[0], value);
      range[1] = Math.max(range[1], value);
    }
  }

  // Probabilities spread over powers of ten: equal steps are equal factors, and the left end lets everything through.
  probabilitySlider(kind, least, most) {
    const output = element("output", { textContent: "all" });
    const slider = element("input", { type: "range", min: "0", max: "100", value: "0", step: "1" });
    slider.dataset.kind = kind;
    slider.addEventListener("input", () => {
      const share = Number(slider.value) / 100;
      const threshold = share === 0 ? 0 : least * (most / least) ** share;
      this.drawing.filter[kind === "edge" ? "leastEdge" : "leastPolygon"] = threshold * (1 - 1e-6);
      output.textContent = share === 0 ? "all" : `≥ ${probabilityText(threshold)}`;
      slider.setAttribute("aria-valuetext", output.textContent);
      this.drawing.updateCells();
    });
    const word = kind === "edge" ? "probability" : this.drawing.polygonWord;
    const name = element("span", { textContent: `${word} of ${kind}s` });
    slider.setAttribute("aria-label", `minimum ${name.textContent}`);
    return element("div", { className: "range" }, element("span", { className: "range-head" }, name, output), slider);
  }

  buildColoring() {
    const { labels, labelled, predictions, classNames } = this.points;
    const select = this.byId("coloring");
    const choices = [];
    const kind = classNames.length ? "class" : "value";
    if (labels) choices.push(["labels", labelled && predictions ? "label or prediction" : kind]);
    if (predictions) choices.push(["predictions", "prediction"]);
    if (labelled && predictions && labels.every((label) => label >= 0)) choices.push(["truth", `true ${kind}`]);
    if (predictions && classNames.length) choices.push(["right", "right (blue) or wrong (orange)"]);
    for (const [value, text] of choices) select.append(element("option", { value, textContent: text }));
    select.parentElement.hidden = choices.length < 2;
    select.addEventListener("change", () => {
      this.drawing.coloring = select.value;
      this.drawing.requestFrame();
    });
    this.byId("safe-colors").addEventListener("change", (event) => {
      this.drawing.colors.use(event.target.checked ? "colorblind" : "paper");
      this.refreshColors();
    });
  }

  refreshColors() {
    this.drawing.colors.refresh();
    for (const { swatch, code } of this.classMarks ?? []) swatch.replaceWith(this.renewed(swatch, code));
    document.querySelectorAll("#statuses .swatch").forEach((swatch, status) => {
      swatch.style.setProperty("--color", css(this.drawing.colors.ofStatus(status)));
    });
    this.drawing.requestFrame();
  }

  renewed(swatch, code) {
    const fresh = markSwatch(this.drawing.colors, code);
    this.classMarks.find((item) => item.swatch === swatch).swatch = fresh;
    return fresh;
  }

  buildSearch() {
    const input = this.byId("find");
    const list = this.byId("names");
    // A list of many thousands would slow the page down; typing finds those names anyway.
    for (let node = 0; node < Math.min(this.points.count, 2000); node += 1) list.append(element("option", { value: this.name(node) }));
    input.addEventListener("change", () => {
      const wanted = input.value.trim().toLowerCase();
      if (!wanted) return;
      const names = Array.from({ length: this.points.count }, (_, node) => this.name(node).toLowerCase());
      const exact = names.indexOf(wanted);
      const node = exact >= 0 ? exact : names.findIndex((name) => name.includes(wanted));
      input.setAttribute("aria-invalid", String(node < 0));
      if (node < 0) return;
      this.drawing.select(node);
      this.drawing.lookAt([...this.drawing.focus.nodes]);
    });
  }

  buildZoom() {
    this.byId("zoom-in").addEventListener("click", () => this.drawing.zoom(1.4));
    this.byId("zoom-out").addEventListener("click", () => this.drawing.zoom(1 / 1.4));
    this.byId("zoom-fit").addEventListener("click", () => this.drawing.fit());
  }

  // The selected point, or the highlighted polygon

  showSelected() {
    const box = this.byId("selected");
    const { selected, highlighted, focus } = this.drawing;
    box.replaceChildren();
    if (highlighted) box.append(...this.polygonDetails(highlighted, focus));
    else if (selected !== null) box.append(...this.pointDetails(selected, focus));
    box.hidden = !box.childElementCount;
    this.showValues();
  }

  closeButton() {
    const button = element("button", { type: "button", className: "close", "aria-label": "Clear the selection", textContent: "×" });
    button.addEventListener("click", () => this.drawing.clear());
    return button;
  }

  facts(pairs) {
    const list = element("dl", { className: "pairs" });
    for (const [name, value] of pairs) list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
    return list;
  }

  pointFacts(node) {
    const { labels, predictions, confidence, roles, roleNames, classNames } = this.points;
    const kind = classNames.length ? "class" : "value";
    const pairs = [];
    if (labels) pairs.push([kind, this.labelText(labels[node]) + (isGuess(this.points, node) && labels[node] >= 0 ? " (hidden from the model)" : "")]);
    if (predictions) pairs.push(["predicted", this.predictionText(predictions[node], confidence ? confidence[node] : NaN)]);
    pairs.push(["degree", String(this.drawing.moment.degree[node])]);
    if (roles && roles[node] >= 0) pairs.push(["used for", roleNames[roles[node]]]);
    return pairs;
  }

  predictionText(value, confidence) {
    const text = this.labelText(value);
    return Number.isNaN(confidence) ? text : `${text} (${percentText(confidence)} sure)`;
  }

  pointDetails(node, focus) {
    const title = element("h3", { textContent: this.name(node) });
    const edges = focus.cells.filter(({ group }) => group.length === 2);
    const polygons = focus.cells.filter(({ group }) => group.length > 2);
    return [
      element("div", { className: "selected-head" }, title, this.closeButton()),
      this.facts(this.pointFacts(node)),
      element("h4", { textContent: this.neighbourTitle(edges.length, this.drawing.moment.degree[node]) }),
      this.list(edges, ({ corners, probability }) => [this.pointButton(corners.find((other) => other !== node)), this.probability(probability)]),
      element("h4", { textContent: `${countText(polygons.length)} polygons` }),
      this.list(polygons, ({ corners, probability }) => [this.polygonButton(corners), this.probability(probability)]),
    ];
  }

  // The rows of the table that the chosen points are, below the drawing; nothing if the page has no values.
  showValues() {
    const { columns } = this.points;
    const box = this.byId("values");
    const { selected, highlighted } = this.drawing;
    box.hidden = !columns.length || (selected === null && !highlighted);
    if (box.hidden) return;
    const nodes = highlighted ?? [selected, ...this.nearest(selected)];
    const title = highlighted ? "The rows of this cell" : "This row and those it is tied to most";
    const heads = ["row", ...columns.map(({ name }) => name)];
    const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col", textContent: shortName(name, 30), title: name })));
    const rows = nodes.map((node) => element("tr", {}, element("th", { scope: "row" }, this.pointButton(node)),
      ...columns.map(({ values }) => element("td", { textContent: shortName(values[node], 40), title: values[node] }))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    box.replaceChildren(element("h4", { textContent: title }),
      element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, table));
  }

  // The neighbours with the most probable edges.
  nearest(node) {
    const edges = this.drawing.focus.cells.filter(({ group }) => group.length === 2);
    return edges.slice(0, MOST_COMPARED).map(({ corners }) => corners.find((other) => other !== node));
  }

  neighbourTitle(shown, all) {
    return shown === all ? `${countText(all)} neighbours` : `${countText(shown)} of ${countText(all)} neighbours are shown`;
  }

  polygonDetails(corners, focus) {
    const cell = focus.cells.find(({ group }) => group.length === corners.length);
    const name = corners.length === 2 ? "Edge" : `Polygon of ${corners.length} points`;
    const parts = [element("div", { className: "selected-head" }, element("h3", { textContent: name }), this.closeButton())];
    if (cell && cell.probability !== null) parts.push(this.facts([[this.wordFor(corners.length), probabilityText(cell.probability)]]));
    if (!cell) parts.push(element("p", { className: "under", textContent: "Not in the complex at this moment, or hidden by a filter." }));
    parts.push(this.list(corners, (node) => [this.pointButton(node), element("span", { textContent: this.points.labels ? this.labelText(takenFor(this.points, node)) : "" })]));
    return parts;
  }

  // What the number at a cell is called.
  wordFor(length) {
    return length === 2 ? "probability" : this.drawing.polygonWord;
  }

  list(items, entry) {
    const list = element("ul");
    for (const item of items.slice(0, MOST_LISTED)) list.append(element("li", {}, ...entry(item)));
    if (items.length > MOST_LISTED) list.append(element("li", { textContent: `and ${countText(items.length - MOST_LISTED)} more` }));
    return list;
  }

  probability(value) {
    return element("span", { className: "number", textContent: value === null ? "" : probabilityText(value) });
  }

  dot(node) {
    const dot = element("span", { className: isGuess(this.points, node) ? "dot light" : "dot" });
    dot.style.setProperty("--color", css(this.drawing.colorOf(node)));
    return dot;
  }

  pointButton(node) {
    const button = element("button", { type: "button", className: "point" }, this.dot(node), shortName(this.name(node), 28));
    button.addEventListener("click", () => this.drawing.select(node));
    return button;
  }

  polygonButton(corners) {
    const names = corners.map((node) => shortName(this.name(node), 12)).join(" – ");
    const button = element("button", { type: "button", className: "point" }, ...corners.map((node) => this.dot(node)), names);
    button.addEventListener("click", () => {
      this.drawing.highlight(corners);
      this.drawing.lookAt(corners);
    });
    return button;
  }

  // The tooltip

  showTip({ found, event }) {
    if (!found) {
      hideTip();
      return;
    }
    if (found.kind === "point") {
      showTip(event.clientX, event.clientY, [element("strong", { textContent: this.name(found.node) }), this.facts(this.pointFacts(found.node))]);
      return;
    }
    const { group, cell } = found;
    const title = group.length === 2 ? "Edge" : `Polygon of ${group.length} points`;
    const names = cornersOf(group, cell).map((node) => shortName(this.name(node), 20)).join(" – ");
    const pairs = [["joins", names]];
    if (group.prob) pairs.push([this.wordFor(group.length), probabilityText(group.prob[cell])]);
    showTip(event.clientX, event.clientY, [element("strong", { textContent: title }), this.facts(pairs)]);
  }
}

// A class's mark as a small picture.
function markSwatch(colors, code) {
  const corners = MARKS[colors.markOf(code)];
  const fill = css(colors.ofClass(code));
  const shape = corners
    ? svgElement("polygon", { points: corners.map((place) => place.join(",")).join(" "), fill })
    : svgElement("circle", { r: 1, fill });
  return svgElement("svg", { viewBox: "-1.3 -1.3 2.6 2.6", class: "mark-swatch", "aria-hidden": "true" }, shape);
}

function showTip(x, y, children) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...children);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(x + 14, document.documentElement.clientWidth - width - 6);
  const top = y + 14 + height > window.innerHeight ? y - height - 10 : y + 14;
  tip.style.left = `${Math.max(left, 6)}px`;
  tip.style.top = `${Math.max(top, 6)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}
