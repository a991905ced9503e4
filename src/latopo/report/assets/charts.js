// Curves and the histogram of the degrees, drawn by plotly in the page's own colours.

const LINE_COLORS = [["#2a6fbb", "#6aa9f0"], ["#d2691e", "#f5a35c"], ["#7a3fa8", "#c08af0"], ["#2f8f46", "#6fd088"]];
const MOST_BARS = 40;
const CHART_OPTIONS = { displayModeBar: false, responsive: true };

// Plotly interprets some tags in text; ours is plain.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function chartLayout(xTitle, suffix, legend) {
  const axis = {
    gridcolor: cssVariable("--line"),
    zerolinecolor: cssVariable("--line"),
    linecolor: cssVariable("--line"),
    automargin: true,
  };
  return {
    autosize: true,
    height: 250,
    margin: { l: 44, r: 10, t: 8, b: 36 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: cssVariable("--muted") },
    xaxis: { ...axis, title: { text: xTitle, standoff: 6 }, rangemode: "tozero", tickangle: 0, nticks: 10 },
    yaxis: { ...axis, ticksuffix: suffix },
    showlegend: legend,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } },
    hovermode: "closest",
    hoverlabel: { bgcolor: cssVariable("--surface"), bordercolor: cssVariable("--line"), font: { color: cssVariable("--text") } },
    bargap: 0.15,
  };
}

// Draws when the reader scrolls near. Returns a function that draws again; before the first time it does nothing.
function whenSeen(place, draw) {
  let wasSeen = false;
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    wasSeen = true;
    draw();
  }, { rootMargin: "300px" });
  watcher.observe(place);
  return () => {
    if (printing) wasSeen = true;
    if (wasSeen) draw();
  };
}

// Returns a function for each chart that draws it again.
function drawCurves(charts) {
  const room = document.getElementById("charts");
  if (!room) return [];
  const places = charts.map((chart) => {
    const place = element("div", { className: "chart", role: "img", "aria-label": chartLabel(chart) });
    room.append(element("figure", { className: "panel" }, element("h3", { textContent: chart.title }),
      element("figcaption", { textContent: chart.explanation }), place));
    return place;
  });
  return charts.map((chart, number) => whenSeen(places[number], () => drawCurve(places[number], chart)));
}

function chartLabel(chart) {
  const ends = chart.series.filter((line) => !line.faint && line.y.length).map((line) => {
    const unit = chart.percent ? " %" : "";
    return `${line.name}: from ${line.y[0]}${unit} to ${line.y.at(-1)}${unit}`;
  });
  return `${chart.title} over the epochs. ${ends.join("; ")}`;
}

function drawCurve(place, chart) {
  const dark = isDark() ? 1 : 0;
  const traces = chart.series.map((line) => ({
    type: "scatter",
    mode: line.y.length > 1 ? "lines" : "markers",
    name: plain(line.name),
    x: line.x,
    y: line.y,
    opacity: line.faint ? 0.28 : 1,
    showlegend: !line.faint,
    line: { color: LINE_COLORS[line.color][dark], width: line.faint ? 1 : 2.2, dash: line.dash ? "dash" : "solid" },
    hovertemplate: `${plain(line.name)}<br>epoch %{x}: %{y}<extra></extra>`,
  }));
  const bold = chart.series.filter((line) => !line.faint);
  const layout = chartLayout("epoch", chart.percent ? " %" : "", bold.length > 1);
  if (chart.fromZero) layout.yaxis.rangemode = "tozero";
  Plotly.react(place, traces, layout, CHART_OPTIONS);
}

// Bars for 0, 1, 2, … neighbours; the last bar collects the rare large degrees.
function drawDegrees(place, degrees, color) {
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
  const layout = chartLayout("neighbours", " %", false);
  layout.xaxis.type = "category";
  const shares = counts.map((count) => (100 * count) / Math.max(sorted.length, 1));
  const trace = { type: "bar", x: names, y: shares, customdata: counts, marker: { color },
    hovertemplate: "%{x} neighbours: %{customdata} points (%{y:.1f} %)<extra></extra>" };
  Plotly.react(place, [trace], layout, CHART_OPTIONS);
}
