// Tables of results: a heading sorts, a number shows its folds.

// numbers: how many digits to show, and for each row of the table its cells' values and folds.
function prepareTable(table, numbers) {
  const rows = [...table.tBodies[0].rows];
  const numbersOf = new Map(rows.map((row, place) => [row, numbers.rows[place]]));
  const labels = table.tHead.rows[0].cells.length - (numbers.rows[0]?.length ?? 0);
  makeSortable(table, labels, (row, column) => numbersOf.get(row)[column - labels].value);
  for (const row of rows) {
    numbersOf.get(row).forEach(({ folds }, place) => {
      const title = foldTitle(table, row, labels, labels + place);
      if (folds.length > 1) prepareFolds(row.cells[labels + place], title, folds, numbers.digits);
    });
  }
}

function makeSortable(table, labels, valueOf) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const isNumber = column >= labels;
    heading.querySelector("button").addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const next = now === "none" ? first : now === "ascending" ? "descending" : "ascending";
      headings.forEach((other) => other.setAttribute("aria-sort", other === heading ? next : "none"));
      sortRows(table, next === "ascending" ? 1 : -1, (row) => (isNumber ? valueOf(row, column) : row.cells[column].textContent));
    });
  });
}

// Missing values stay last in both directions.
function sortRows(table, sign, keyOf) {
  const compare = (one, two) => {
    const [first, second] = [keyOf(one), keyOf(two)];
    if (first === null || second === null) return (first === null) - (second === null);
    return sign * (typeof first === "number" ? first - second : first.localeCompare(second, "en", { numeric: true }));
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
}

function foldTitle(table, row, labels, column) {
  const names = [...row.cells].slice(0, labels).map((cell) => cell.textContent);
  return [...names, table.tHead.rows[0].cells[column].textContent].join(", ");
}

function prepareFolds(cell, title, folds, digits) {
  const show = () => {
    const frame = cell.getBoundingClientRect();
    const listed = element("p", { className: "under", textContent: folds.map((value) => value.toFixed(digits)).join("  ") });
    showTip(frame.left + frame.width / 2, frame.bottom - 8, [element("strong", { textContent: title }), foldPicture(folds, digits), listed]);
  };
  for (const name of ["pointerenter", "focus"]) cell.addEventListener(name, show);
  for (const name of ["pointerleave", "blur"]) cell.addEventListener(name, hideTip);
}

// The folds as dots on a line, their mean as a mark.
function foldPicture(folds, digits) {
  const low = Math.min(...folds);
  const high = Math.max(...folds);
  const mean = folds.reduce((sum, value) => sum + value, 0) / folds.length;
  const x = (value) => 12 + (high > low ? ((value - low) / (high - low)) * 196 : 98);
  return svgElement("svg", { viewBox: "0 0 220 44", class: "folds" },
    svgElement("line", { x1: 8, x2: 212, y1: 20, y2: 20, class: "axis" }),
    svgElement("line", { x1: x(mean), x2: x(mean), y1: 8, y2: 32, class: "mean" }),
    ...folds.map((value) => svgElement("circle", { cx: x(value), cy: 20, r: 5 })),
    svgElement("text", { x: 8, y: 42 }, low.toFixed(digits)),
    svgElement("text", { x: 212, y: 42, "text-anchor": "end" }, high.toFixed(digits)));
}
