// The page's data: JSON in which arrays are references into one compressed block of bytes.

const ARRAY_TYPES = { Int8Array, Int16Array, Int32Array, Uint8Array, Uint16Array, Uint32Array, Float32Array };

function readContent() {
  return JSON.parse(document.getElementById("content").textContent);
}

async function unpackArrays(value) {
  return withArrays(value, await inflate(document.getElementById("arrays").textContent));
}

async function inflate(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser is too old for the drawing; use one from 2023 or later");
  }
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function withArrays(value, buffer) {
  if (Array.isArray(value)) return value.map((item) => withArrays(item, buffer));
  if (value === null || typeof value !== "object") return value;
  if (value.type === "Texts") return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, value.at, value.length)));
  const type = ARRAY_TYPES[value.type];
  if (type) return new type(buffer, value.at, value.length);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withArrays(item, buffer)]));
}

// An element; text in it is never read as HTML.
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function svgElement(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function percentText(share) {
  return share === null || Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1).replace(/\.0$/, "")} %`;
}

function countText(number) {
  return number.toLocaleString("en");
}

function probabilityText(probability) {
  return Number(probability.toPrecision(3)).toString();
}
