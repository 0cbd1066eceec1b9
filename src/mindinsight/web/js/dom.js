// Elements from code. Text is always text: nothing that comes from a run is ever parsed as HTML.
export function h(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key === "style") node.style.cssText = value;
    else if (key in node && !["list", "form", "width", "height"].includes(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  add(node, children);
  return node;
}

export function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (child !== undefined && child !== null && child !== false) node.append(child instanceof Node ? child : String(child));
  }
}

export function fill(node, ...children) { node.replaceChildren(); add(node, children); return node; }

const SVG = "http://www.w3.org/2000/svg";
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20"); svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path"); line.setAttribute("d", path); svg.append(line);
  return svg;
}

export function segments(options, current, choose, label) {
  return h("div", { class: "seg", role: "group", "aria-label": label },
    options.map(([value, text]) => h("button", { type: "button", "aria-pressed": String(value === current), onclick: () => choose(value) }, text)));
}

export function picker(options, current, choose, label) {
  const select = h("select", { "aria-label": label, onchange: () => choose(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === current }, text)));
  return select;
}

export function nothing(title, ...more) { return h("div", { class: "none" }, h("h2", {}, title), h("p", {}, more)); }

// A name that may be too long for its place: what is left out is in its middle, since names mostly differ at their ends.
export function elided(text) {
  const cut = text.length > 12 ? text.length - Math.min(20, Math.floor(text.length / 2)) : text.length;
  return h("span", { class: "elided", title: text }, h("span", { class: "start" }, text.slice(0, cut)), h("span", { class: "end" }, text.slice(cut)));
}

export function counted(number, noun) { return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`; }

// Numbers as people read them.
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(+value.toPrecision(5));
}

export function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0 s";
  if (Math.abs(value) < 1e-3) return (value * 1e6).toFixed(1) + " µs";
  if (Math.abs(value) < 1) return (value * 1e3).toFixed(1) + " ms";
  if (value < 60) return value.toFixed(1) + " s";
  if (value < 3600) return Math.floor(value / 60) + " min " + Math.round(value % 60) + " s";
  return Math.floor(value / 3600) + " h " + Math.round(value % 3600 / 60) + " min";
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (Math.abs(value) >= 1000 && i < 4) { value /= 1000; i++; }
  return (i && value < 100 ? value.toFixed(1) : Math.round(value)) + " " + units[i];
}

export function clock(stamp) { return stamp ? new Date(stamp * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "–"; }

export function later(action, wait = 150) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => action(...values), wait); };
}

export function regex(text) {
  if (!text) return null;
  try { return new RegExp(text, "i"); } catch { return undefined; }
}

// A field whose text is a regular expression; one that is none is marked, and leaves everything in sight.
export function patternField(id, noun, value, changed) {
  const field = h("input", { type: "search", id, placeholder: `Filter ${noun} (regex)`, "aria-label": `Filter ${noun}`, value });
  const mark = () => { const wrong = regex(field.value) === undefined; field.classList.toggle("wrong", wrong); field.title = wrong ? `"${field.value}" is no regular expression: nothing is left out` : ""; };
  field.addEventListener("input", later(() => { mark(); changed(field.value); }, 120));
  mark();
  return field;
}

export function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A canvas that follows the size of its box and the density of the screen.
export function surface(box, draw) {
  const canvas = h("canvas", { tabIndex: 0 });
  box.append(canvas);
  let asked = false;
  const paint = () => {
    asked = false;
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(paint); } };
  new ResizeObserver(redraw).observe(canvas);
  return { canvas, redraw, paint };
}

export function ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
