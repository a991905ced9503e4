// Tables of results: a heading sorts, a number shows its folds.

function makeSortable(table) {
  const headings = [...table.querySelectorAll("thead th")];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const isNumber = [...table.tBodies[0].rows].some((row) => row.cells[column].dataset.folds || row.cells[column].classList.contains("result"));
      const now = heading.getAttribute("aria-sort");
      const next = now === "none" ? (isNumber ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
      headings.forEach((other) => other.setAttribute("aria-sort", other === heading ? next : "none"));
      sortRows(table, column, next === "ascending" ? 1 : -1, isNumber);
    });
  });
}

// Missing values stay last in both directions.
function sortRows(table, column, sign, isNumber) {
  const rows = [...table.tBodies[0].rows];
  const key = (row) => row.cells[column].dataset.sort;
  const compare = (one, two) => {
    const [first, second] = [key(one), key(two)];
    if (first === undefined || second === undefined) return (first === undefined) - (second === undefined);
    return sign * (isNumber ? Number(first) - Number(second) : first.localeCompare(second, "en", { numeric: true }));
  };
  table.tBodies[0].append(...rows.sort(compare));
}

function showFolds(cell) {
  const folds = JSON.parse(cell.dataset.folds);
  const frame = cell.getBoundingClientRect();
  const listed = element("p", { className: "under", textContent: folds.map((value) => value.toFixed(1)).join("  ") });
  showTip(frame.left + frame.width / 2, frame.bottom - 8, [element("strong", { textContent: cell.dataset.label }), foldPicture(folds), listed]);
}

// The folds as dots on a line, their mean as a mark.
function foldPicture(folds) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 220 44");
  picture.setAttribute("class", "folds");
  const low = Math.min(...folds);
  const high = Math.max(...folds);
  const x = (value) => 12 + (high > low ? ((value - low) / (high - low)) * 196 : 98);
  const add = (name, attributes, text = "") => {
    const part = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    part.textContent = text;
    picture.append(part);
  };
  const mean = folds.reduce((sum, value) => sum + value, 0) / folds.length;
  add("line", { x1: 8, x2: 212, y1: 20, y2: 20, class: "axis" });
  add("line", { x1: x(mean), x2: x(mean), y1: 8, y2: 32, class: "mean" });
  for (const value of folds) add("circle", { cx: x(value), cy: 20, r: 5 });
  add("text", { x: 8, y: 42 }, low.toFixed(1));
  add("text", { x: 212, y: 42, "text-anchor": "end" }, high.toFixed(1));
  return picture;
}

function prepareTables() {
  for (const table of document.querySelectorAll("table.results")) makeSortable(table);
  for (const cell of document.querySelectorAll("td[data-folds]")) {
    for (const name of ["pointerenter", "focus"]) cell.addEventListener(name, () => showFolds(cell));
    for (const name of ["pointerleave", "blur"]) cell.addEventListener(name, hideTip);
  }
}
