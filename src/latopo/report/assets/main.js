// Puts the parts together.

function prepareContents() {
  const list = document.getElementById("contents");
  for (const section of document.querySelectorAll("main > section[id]")) {
    const heading = section.querySelector("h2");
    if (heading) list.append(element("a", { href: `#${section.id}`, textContent: heading.textContent }));
  }
}

function prepareTheme(refresh) {
  const button = document.getElementById("theme");
  const name = document.getElementById("theme-name");
  const show = () => {
    name.textContent = isDark() ? "Dark" : "Light";
    refresh();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  darkQuery.addEventListener("change", show);
  for (const [event, state] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(event, () => {
      printing = state;
      document.documentElement.classList.toggle("printing", state);
      refresh();
    });
  }
  show();
}

// Buttons in the text that show a point or a polygon. They name nodes of the data; the drawing may hold only some.
function prepareLinks(drawing) {
  const placeOf = new Map(Array.from(drawing.points.numbers, (number, place) => [number, place]));
  const show = (button, action) => {
    const places = JSON.parse(button.dataset.nodes).map((number) => placeOf.get(number));
    if (places.includes(undefined)) {
      button.disabled = true;
      button.title = "not one of the drawn points";
      return;
    }
    button.addEventListener("click", () => {
      action(places);
      document.getElementById("complex").scrollIntoView({ block: "start" });
    });
  };
  for (const button of document.querySelectorAll("button.point[data-nodes]")) {
    show(button, ([place]) => {
      drawing.select(place);
      drawing.lookAt([...drawing.focus.nodes]);
    });
  }
  for (const button of document.querySelectorAll("button.show-polygon")) {
    show(button, (places) => {
      drawing.highlight(places);
      drawing.lookAt(places);
    });
  }
}

function prepareDrawing(content) {
  const lengths = Object.keys(content.polygonNames).map(Number);
  const colors = new Colors(content.palettes, content.points.classNames.length, lengths);
  const drawing = new Drawing(document.getElementById("canvas"), content, colors);
  drawing.total = content.total;
  const panel = new Panel(drawing);
  prepareLinks(drawing);
  return { drawing, panel };
}

// For tests and the curious: what is visible now. Reading it changes nothing.
function exposeState(drawing) {
  const cells = (isWanted) => drawing.visible.filter(({ group }) => isWanted(group.length))
    .flatMap(({ group, cells: numbers }) => numbers.map((cell) => cornersOf(group, cell)));
  const state = () => ({
    moment: drawing.moment.title,
    edges: cells((length) => length === 2),
    polygons: cells((length) => length > 2),
    selected: drawing.selected,
    highlighted: drawing.highlighted,
    hovered: drawing.hovered?.kind === "point" ? drawing.hovered.node : null,
    magnification: drawing.camera.magnification,
    frame: drawing.lastFrame,
  });
  const place = (node) => [drawing.camera.x(drawing.points.x[node]), drawing.camera.y(drawing.points.y[node])];
  window.latopo = Object.freeze({ state, place });
}

async function start() {
  prepareContents();
  const { tables, drawing: packed, charts } = readContent();
  document.querySelectorAll("table.results").forEach((table, number) => prepareTable(table, tables[number]));
  const parts = packed ? prepareDrawing(await unpackArrays(packed)) : null;
  drawCurves(charts);
  if (parts) {
    const { drawing } = parts;
    const place = document.getElementById("degrees");
    const draw = () => drawDegrees(place, drawing.moment.degrees);
    drawInto(place, draw);
    drawing.addEventListener("cells", draw);
    exposeState(drawing);
  }
  prepareTheme(() => parts?.panel.refreshColors());
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  const failure = document.getElementById("failure");
  failure.textContent = `The interactive parts could not start: ${error.message}`;
  failure.hidden = false;
  console.error(error);
});
