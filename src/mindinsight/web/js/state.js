// What the user chose lives in the address, so that a link shows the same thing: #/page?name=value&…
import { later } from "./dom.js";

const listeners = new Set();
let page = "", values = new URLSearchParams();

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  page = path || "scalars";
  values = new URLSearchParams(query || "");
}
parse();

const write = later(() => history.replaceState(null, "", link(page)), 100);

export function current() { return page; }
export function get(name, otherwise = "") { return values.has(name) ? values.get(name) : otherwise; }
export function flag(name) { return values.get(name) === "1"; }
export function number(name, otherwise) { const value = parseFloat(values.get(name)); return Number.isFinite(value) ? value : otherwise; }
export function list(name) { const text = values.get(name); return text ? text.split("\u001f") : []; }

export function set(name, value, quiet = false) {
  const text = Array.isArray(value) ? value.join("\u001f") : value === true ? "1" : value === false || value === undefined || value === null ? "" : String(value);
  if (text === "") values.delete(name); else values.set(name, text);
  write();
  if (!quiet) for (const listener of listeners) listener(name);
}

export function link(target) {
  const query = values.toString();
  return "#/" + target + (query ? "?" + query : "");
}

export function changed(listener) { listeners.add(listener); return () => listeners.delete(listener); }

export function follow(show) {
  parse();  // the address may have changed since this module was loaded
  window.addEventListener("hashchange", () => { parse(); show(); });
}
