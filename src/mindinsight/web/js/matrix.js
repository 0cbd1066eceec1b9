// Numbers in rows and columns: as a table with coloured cells, as a heat map.
import { diverging, rgb } from "./colors.js";
import { h, short, surface } from "./dom.js";

const MOST = 200; // rows and columns of a table
const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const BROKEN = [255, 120, 120];

function number(value) { return typeof value === "string" ? WORDS[value.toLowerCase()] : typeof value === "boolean" ? +value : value; }

// Rows of numbers from a reply: a scalar, a list, or a list of lists; what is not finite comes as a word.
export function matrix(data) {
  const rows = !Array.isArray(data) ? [[data]] : Array.isArray(data[0]) ? data : [data];
  return rows.map((row) => row.map(number));
}

function largest(rows) {
  let most = 1e-30;
  for (const row of rows) for (const v of row) if (Number.isFinite(v)) most = Math.max(most, Math.abs(v));
  return most;
}

// `title(i, j)`: what is said of a cell when the mouse is over it.
export function cells(rows, title) {
  const most = largest(rows), wide = rows.length ? rows[0].length : 0;
  const cell = (v, i, j) => h("td", { style: `background:rgb(${Number.isFinite(v) ? diverging(v / most * 0.7) : BROKEN});color:#1b2430`, title: title ? title(i, j) : null }, Number.isFinite(v) ? short(v) : String(v));
  const table = h("table", { class: "cells" }, h("tr", {}, h("th"), (rows[0] || []).slice(0, MOST).map((_, j) => h("th", {}, j))),
    rows.slice(0, MOST).map((row, i) => h("tr", {}, h("th", {}, i), row.slice(0, MOST).map((v, j) => cell(v, i, j)))));
  const cut = rows.length > MOST || wide > MOST ? h("p", { class: "count" }, `The first ${Math.min(rows.length, MOST)} × ${Math.min(wide, MOST)} of ${rows.length} × ${wide}.`) : null;
  return h("div", {}, h("div", { class: "scroll" }, table), cut);
}

export function heat(rows, height = 420) {
  let low = Infinity, high = -Infinity;
  for (const row of rows) for (const v of row) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  const box = h("div", { class: "card" }, h("div", { class: "plot", style: `height:${height}px` })), both = low < 0 && high > 0, most = Math.max(Math.abs(low), Math.abs(high));
  const image = new ImageData(rows[0].length, rows.length);
  const color = (v) => !Number.isFinite(v) ? [255, 0, 0] : both ? diverging(v / most) : rgb((v - low) / (high - low || 1));
  rows.forEach((row, i) => row.forEach((v, j) => image.data.set([...color(v), 255], 4 * (i * row.length + j))));
  const small = new OffscreenCanvas(rows[0].length, rows.length);
  small.getContext("2d").putImageData(image, 0, 0);
  surface(box.firstChild, (context, width, tall) => {
    const k = Math.min(width / small.width, tall / small.height);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, small.width * k, small.height * k);
  });
  box.append(h("span", { class: "count" }, low <= high ? `${short(low)} to ${short(high)}; red: not a number` : "nothing finite"));
  return box;
}

// The part of a tensor that is shown at first: the last two dimensions, not too many of each.
export function firstSlice(shape) { return "[" + shape.map((n, i) => (i < shape.length - 2 ? "0" : n > 40 ? "0:40" : ":")).join(", ") + "]"; }
