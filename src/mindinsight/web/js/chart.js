// A line chart on a canvas, made for hundreds of lines.
//
// Lines are cut to what is in sight by bisection and reduced to a few points per column of pixels (first, lowest, highest,
// last), so the cost of a frame depends on the screen and the number of lines, not on the number of points. Smoothed
// values are kept until the data or the strength of smoothing change.
import { elided, h, ink, save, seconds as asTime, short, surface } from "./dom.js";

const LEFT = 56, RIGHT = 10, TOP = 8, BOTTOM = 24;

// Exponential moving average without the bias of its start, as TensorBoard's.
export function smooth(values, weight) {
  if (!weight) return values;
  const out = new Float32Array(values.length);
  let last = 0, seen = 0, mass = 1;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (!Number.isFinite(v)) { out[i] = v; continue; }
    seen++;
    last = last * weight + (1 - weight) * v;
    mass *= weight;
    out[i] = last / (1 - mass);
  }
  return out;
}

function bisect(xs, x) {
  let low = 0, high = xs.length;
  while (low < high) { const mid = (low + high) >> 1; if (xs[mid] < x) low = mid + 1; else high = mid; }
  return low;
}

export function ticks(low, high, count, log) {
  if (!(high > low)) return [low];
  if (log) {
    const a = Math.ceil(Math.log10(low) - 1e-9), b = Math.floor(Math.log10(high) + 1e-9);
    if (b - a >= 1) { const step = Math.max(1, Math.ceil((b - a + 1) / count)); const out = []; for (let p = a; p <= b; p += step) out.push(10 ** p); return out; }
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough)), unit = [1, 2, 5, 10].reduce((best, u) => Math.abs(Math.log(u * power / rough)) < Math.abs(Math.log(best * power / rough)) ? u : best) * power;
  const out = [];
  for (let v = Math.ceil(low / unit) * unit; v <= high + unit * 1e-9; v += unit) out.push(Math.abs(v) < unit * 1e-9 ? 0 : v);
  return out;
}

export class Chart {
  // options: { axis: step|relative|wall, fractions (a step axis that is none), smooth, logX, logY, title, waiting, detail(window) }
  constructor(box, options) {
    this.options = { axis: "step", smooth: 0, logX: false, logY: false, ...options };
    this.lines = []; this.bands = []; this.view = null; this.near = null; this.cache = new Map();
    this.stage = surface(box, (context, width, height) => this.draw(context, width, height));
    this.canvas = this.stage.canvas;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Chart of ${options.title}. Drag to zoom, double-click or 0 to reset, arrows to move the cursor.`);
    this.tip = null; this.frame = 0;
    this.interact();
  }

  // lines: [{ id, name, color, steps, seconds, values, begin }]
  set(lines, bands = []) { this.lines = lines; this.bands = bands; this.cache.clear(); this.stage.redraw(); }
  change(options) {
    if (options.smooth !== undefined && options.smooth !== this.options.smooth) this.cache.clear();
    if (options.axis && options.axis !== this.options.axis) this.view = null;
    Object.assign(this.options, options);
    this.stage.redraw();
  }

  xs(line) {
    if (this.options.axis === "step") return line.steps;
    if (this.options.axis === "relative") return line.seconds;
    if (!line.walls) { line.walls = new Float64Array(line.seconds.length); for (let i = 0; i < line.walls.length; i++) line.walls[i] = line.begin + line.seconds[i]; }
    return line.walls;
  }

  ys(line) {
    if (!this.options.smooth) return line.values;
    let found = this.cache.get(line);
    if (!found) { found = smooth(line.values, this.options.smooth); this.cache.set(line, found); }
    return found;
  }

  range() {
    const { logX, logY } = this.options;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (const line of this.lines) {
      const xs = this.xs(line), n = xs.length;
      if (!n) continue;
      let first = 0;
      if (logX) while (first < n && !(xs[first] > 0)) first++;
      if (first < n) { if (xs[first] < x0) x0 = xs[first]; if (xs[n - 1] > x1) x1 = xs[n - 1]; }
    }
    const view = this.view || { x0, x1 }, raw = this.options.smooth > 0 && this.lines.length <= 40;
    for (const line of this.lines) {
      const xs = this.xs(line), ys = this.ys(line);
      const first = Math.max(0, bisect(xs, view.x0)), last = bisect(xs, view.x1);
      for (let i = first; i <= last && i < ys.length; i++) {
        const y = ys[i];
        if (y < y0 && (!logY || y > 0)) y0 = y;
        if (y > y1 && y < Infinity) y1 = y;
        if (!raw) continue;
        const v = line.values[i];
        if (v < y0 && (!logY || v > 0)) y0 = v;
        if (v > y1 && v < Infinity) y1 = v;
      }
    }
    if (y0 === -Infinity) y0 = 0;
    for (const band of this.bands) for (let i = 0; i < band.low.length; i++) {
      if (band.xs[i] < view.x0 || band.xs[i] > view.x1) continue;
      if (band.low[i] < y0 && (!logY || band.low[i] > 0)) y0 = band.low[i];
      if (band.high[i] > y1) y1 = band.high[i];
    }
    if (!(y1 >= y0)) [y0, y1] = [logY ? 0.1 : 0, 1];
    if (y0 === y1) { const d = Math.abs(y0) * 0.1 || 0.5; if (logY) { y0 /= 1.3; y1 *= 1.3; } else { y0 -= d; y1 += d; } }
    else if (logY) { const f = (y1 / y0) ** 0.04; y0 /= f; y1 *= f; }
    else { const d = (y1 - y0) * 0.05; y0 -= d; y1 += d; }
    if (!(x1 >= x0)) [x0, x1] = [logX ? 1 : 0, logX ? 10 : 1];
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    const out = { x0, x1, y0, y1 };
    if (this.view) { out.x0 = this.view.x0; out.x1 = this.view.x1; if (this.view.y0 !== undefined) { out.y0 = this.view.y0; out.y1 = this.view.y1; } }
    if (logX && out.x0 <= 0) out.x0 = Math.min(1, out.x1 / 10);
    return out;
  }

  scales(width, height) {
    const r = this.range(), { logX, logY } = this.options, w = width - LEFT - RIGHT, t = height - TOP - BOTTOM;
    const lx = logX ? Math.log : (v) => v, ly = logY ? Math.log : (v) => v;
    const ax = lx(r.x0), kx = w / (lx(r.x1) - ax || 1), ay = ly(r.y0), ky = t / (ly(r.y1) - ay || 1), base = height - BOTTOM;
    return {
      ...r, logX, logY, w, t,
      x: logX ? (v) => LEFT + (Math.log(v) - ax) * kx : (v) => LEFT + (v - ax) * kx,
      y: logY ? (v) => base - (Math.log(v) - ay) * ky : (v) => base - (v - ay) * ky,
      ux: (p) => { const v = (p - LEFT) / kx + ax; return logX ? Math.exp(v) : v; },
      uy: (p) => { const v = (base - p) / ky + ay; return logY ? Math.exp(v) : v; },
    };
  }

  // The points of a line to draw, as pixels: at most four for each column.
  trace(s, xs, ys, pen, column) {
    const first = Math.max(0, bisect(xs, s.x0) - 1), last = Math.min(xs.length, bisect(xs, s.x1) + 1);
    let open = false;
    if (last - first <= s.w / column * 2) {
      for (let i = first; i < last; i++) {
        const y = ys[i];
        if (!(y - y === 0) || (s.logY && y <= 0) || (s.logX && xs[i] <= 0)) { open = false; continue; }
        if (open) pen.lineTo(s.x(xs[i]), s.y(y)); else { pen.moveTo(s.x(xs[i]), s.y(y)); open = true; }
      }
      return;
    }
    let here = -1, px = 0, low = 0, high = 0, end = 0;
    const flush = () => { pen.lineTo(px, s.y(low)); if (high !== low) pen.lineTo(px, s.y(high)); if (end !== high) pen.lineTo(px, s.y(end)); };
    for (let i = first; i < last; i++) {
      const y = ys[i];
      if (!(y - y === 0) || (s.logY && y <= 0) || (s.logX && xs[i] <= 0)) continue;
      const x = s.x(xs[i]), at = (x / column) | 0;
      if (at !== here) {
        if (here >= 0) flush();
        here = at; px = x; low = high = end = y;
        if (!open) { pen.moveTo(x, s.y(y)); open = true; }
      } else { if (y < low) low = y; if (y > high) high = y; end = y; }
    }
    if (here >= 0) flush();
  }

  draw(context, width, height) {
    const begun = performance.now(), s = this.s = this.scales(width, height);
    this.width = width; this.height = height;
    this.axes(context, s, width, height);
    context.save();
    context.beginPath(); context.rect(LEFT, TOP - 2, s.w, s.t + 4); context.clip();
    const many = this.lines.length > 40, column = this.lines.length > 200 ? 3 : this.lines.length > 60 ? 2 : 1;
    context.lineJoin = many ? "bevel" : "round"; // round joins cost more than the lines
    for (const band of this.bands) {
      context.beginPath();
      for (let i = 0; i < band.xs.length; i++) { const f = i ? "lineTo" : "moveTo"; context[f](s.x(band.xs[i]), s.y(band.high[i])); }
      for (let i = band.xs.length - 1; i >= 0; i--) context.lineTo(s.x(band.xs[i]), s.y(band.low[i]));
      context.closePath(); context.globalAlpha = 0.16; context.fillStyle = band.color; context.fill();
    }
    if (this.options.smooth && !many) for (const line of this.lines) {
      context.beginPath(); this.trace(s, this.xs(line), line.values, context, column);
      context.globalAlpha = 0.22; context.lineWidth = 1; context.strokeStyle = line.color; context.stroke();
    }
    context.globalAlpha = many ? 0.75 : 1;
    context.lineWidth = many ? 1 : 1.6;
    for (const line of this.lines) {
      if (this.near && line.id === this.near.id) continue;
      context.beginPath(); this.trace(s, this.xs(line), this.ys(line), context, column);
      context.strokeStyle = line.color; context.stroke();
      if (line.values.length === 1) { context.beginPath(); context.arc(s.x(this.xs(line)[0]), s.y(line.values[0]), 3, 0, 7); context.fillStyle = line.color; context.fill(); }
    }
    context.globalAlpha = 1;
    if (this.near) this.mark(context, s);
    context.restore();
    if (this.drag) {
      const { x, y, a, b } = this.drag;
      context.fillStyle = ink("--accent"); context.globalAlpha = 0.14;
      context.fillRect(Math.min(x, a), Math.min(y, b), Math.abs(a - x), Math.abs(b - y));
      context.globalAlpha = 1;
    }
    this.frame = performance.now() - begun;
  }

  mark(context, s) {
    const line = this.lines.find((one) => one.id === this.near.id);
    if (!line) return;
    context.lineWidth = 2.6; context.strokeStyle = line.color;
    context.beginPath(); this.trace(s, this.xs(line), this.ys(line), context, 1); context.stroke();
    const x = s.x(this.near.x), y = s.y(this.near.y);
    context.strokeStyle = ink("--faint"); context.lineWidth = 1; context.setLineDash([3, 3]);
    context.beginPath(); context.moveTo(x, TOP); context.lineTo(x, TOP + s.t); context.stroke(); context.setLineDash([]);
    context.fillStyle = line.color; context.beginPath(); context.arc(x, y, 4, 0, 7); context.fill();
    context.strokeStyle = ink("--card"); context.lineWidth = 1.5; context.stroke();
  }

  format(v, axis) {
    if (!axis || this.options.axis === "step") return short(v);
    if (this.options.axis === "relative") return asTime(v);
    const date = new Date(v * 1000);
    return this.s && this.s.x1 - this.s.x0 > 172800 ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" }) : date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: this.s && this.s.x1 - this.s.x0 < 600 ? "2-digit" : undefined });
  }

  // Where the horizontal axis has numbers; steps are whole ones.
  places(s) {
    const found = ticks(s.x0, s.x1, Math.max(2, Math.floor(s.w / 80)), s.logX);
    return this.options.axis === "step" && !this.options.fractions ? found.filter(Number.isInteger) : found;
  }

  axes(context, s, width, height) {
    context.font = "11px system-ui, 'Liberation Sans', sans-serif";
    context.fillStyle = ink("--faint"); context.strokeStyle = ink("--line"); context.lineWidth = 1;
    context.textAlign = "right"; context.textBaseline = "middle";
    for (const v of ticks(s.y0, s.y1, Math.max(2, Math.floor(s.t / 38)), s.logY)) {
      const y = Math.round(s.y(v)) + 0.5;
      context.beginPath(); context.moveTo(LEFT, y); context.lineTo(width - RIGHT, y); context.stroke();
      context.fillText(short(v), LEFT - 6, y);
    }
    context.textAlign = "center"; context.textBaseline = "top";
    for (const v of this.places(s)) {
      const x = s.x(v);
      context.fillText(this.format(v, true), Math.max(LEFT + 8, Math.min(width - 22, x)), height - BOTTOM + 7);
    }
    if (!this.lines.length && !this.bands.length) { context.textBaseline = "middle"; context.fillText(this.options.waiting || "no points", LEFT + s.w / 2, TOP + s.t / 2); }
  }

  // ------------------------------------------------------------------------------------------------------------------
  interact() {
    const canvas = this.canvas;
    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button || !this.s) return;
      const [x, y] = place(event);
      this.drag = { x, y, a: x, b: y };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (this.drag) { this.drag.a = x; this.drag.b = y; this.hide(); this.stage.redraw(); }
      else this.hover(x, y, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerup", () => {
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag.a - drag.x) > 6) this.zoomTo(drag);
      this.stage.redraw();
    });
    canvas.addEventListener("pointerleave", () => { this.near = null; this.hide(); this.stage.redraw(); });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoomAt(place(event)[0], event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => { this.near = null; this.hide(); this.stage.redraw(); });
  }

  zoomTo({ x, y, a, b }) {
    const s = this.s, tall = Math.abs(b - y) > 24;
    this.view = { x0: Math.max(s.x0, s.ux(Math.min(x, a))), x1: Math.min(s.x1, s.ux(Math.max(x, a))) };
    if (tall) Object.assign(this.view, { y0: s.uy(Math.max(y, b)), y1: s.uy(Math.min(y, b)) });
    this.zoomed();
  }

  zoomAt(px, factor) {
    const s = this.s, at = s.ux(px), lx = s.logX ? Math.log : (v) => v, ex = s.logX ? Math.exp : (v) => v;
    this.view = { ...(this.view || {}), x0: ex(lx(at) - (lx(at) - lx(s.x0)) * factor), x1: ex(lx(at) + (lx(s.x1) - lx(at)) * factor) };
    this.zoomed();
  }

  reset() { this.view = null; this.zoomed(); }
  zoomed() { this.stage.redraw(); if (this.options.detail) this.options.detail(this.view); }

  key(event) {
    if (!this.s) return;
    const middle = LEFT + this.s.w / 2;
    if (event.key === "+" || event.key === "=") this.zoomAt(middle, 0.7);
    else if (event.key === "-") this.zoomAt(middle, 1.4);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const box = this.canvas.getBoundingClientRect();
      this.cursor = Math.max(LEFT, Math.min(LEFT + this.s.w, (this.cursor ?? middle) + (event.key === "ArrowRight" ? 8 : -8)));
      const y = this.near ? this.s.y(this.near.y) : TOP + this.s.t / 2;
      this.hover(this.cursor, y, box.left + this.cursor, box.top + y);
    } else return;
    event.preventDefault();
  }

  // The nearest line, and the values of the others at the same place.
  hover(x, y, clientX, clientY) {
    const s = this.s;
    if (!s || !this.lines.length || x < LEFT - 8) { this.hide(); return; }
    const at = s.ux(x), rows = [];
    for (const line of this.lines) {
      const xs = this.xs(line), ys = this.ys(line);
      if (!xs.length) continue;
      let i = bisect(xs, at);
      if (i > 0 && (i === xs.length || at - xs[i - 1] < xs[i] - at)) i--;
      if (!(ys[i] - ys[i] === 0)) { if (this.lines.length > 20) continue; }
      rows.push({ line, i, distance: Math.abs(s.y(ys[i]) - y) + Math.abs(s.x(xs[i]) - x) * 0.5 });
    }
    if (!rows.length) { this.hide(); return; }
    rows.sort((a, b) => a.distance - b.distance || 0);
    const near = rows[0];
    this.near = { id: near.line.id, x: this.xs(near.line)[near.i], y: this.ys(near.line)[near.i] };
    this.stage.redraw();
    this.show(rows.slice(0, 12).sort((a, b) => this.ys(b.line)[b.i] - this.ys(a.line)[a.i]), near, rows.length, clientX, clientY);
  }

  show(rows, near, total, clientX, clientY) {
    const smoothed = this.options.smooth > 0;
    const table = h("table", {}, h("tr", {}, h("td"), h("td", {}, "run"), h("td", { class: "num" }, "value"), smoothed ? h("td", { class: "num" }, "smoothed") : null, h("td", { class: "num" }, "step"), h("td", { class: "num" }, "time")),
      rows.map(({ line, i }) => h("tr", { class: line === near.line ? "near" : "" },
        h("td", {}, h("i", { class: "dot", style: `display:inline-block;background:${line.color}` })), h("td", {}, elided(line.name)),
        h("td", { class: "num" }, short(line.values[i])), smoothed ? h("td", { class: "num" }, short(this.ys(line)[i])) : null,
        h("td", { class: "num" }, short(line.steps[i])), h("td", { class: "num" }, asTime(line.seconds[i])))));
    if (!this.tip) { this.tip = h("div", { class: "tip" }); document.body.append(this.tip); }
    this.tip.replaceChildren(table, ...(total > rows.length ? [h("div", { class: "count" }, `and ${total - rows.length} more`)] : []));
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = Math.max(4, Math.min(window.innerWidth - box.width - 8, clientX + 16)) + "px";
    this.tip.style.top = (clientY + 18 + box.height > window.innerHeight ? Math.max(4, clientY - box.height - 14) : clientY + 18) + "px";
  }
  hide() { if (this.tip) { this.tip.remove(); this.tip = null; } }
  close() { this.hide(); }

  // ------------------------------------------------------------------------------------------------------------------
  png() {
    const out = document.createElement("canvas"), source = this.canvas;
    out.width = source.width; out.height = source.height;
    const context = out.getContext("2d");
    context.fillStyle = ink("--card"); context.fillRect(0, 0, out.width, out.height);
    this.near = null; this.stage.paint(); context.drawImage(source, 0, 0);
    out.toBlob((blob) => save(this.name("png"), blob));
  }

  svg() {
    const s = this.s, parts = [];
    const escape = (text) => String(text).replace(/[<>&"]/g, (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c]);
    for (const v of ticks(s.y0, s.y1, Math.max(2, Math.floor(s.t / 38)), s.logY)) parts.push(`<path d="M${LEFT} ${s.y(v).toFixed(1)}H${this.width - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${(s.y(v) + 4).toFixed(1)}" text-anchor="end">${escape(short(v))}</text>`);
    for (const v of this.places(s)) parts.push(`<text x="${s.x(v).toFixed(1)}" y="${this.height - 8}" text-anchor="middle">${escape(this.format(v, true))}</text>`);
    parts.push(`<clipPath id="c"><rect x="${LEFT}" y="${TOP}" width="${s.w}" height="${s.t}"/></clipPath><g clip-path="url(#c)" fill="none" stroke-width="1.5">`);
    for (const line of this.lines) {
      let path = "";
      this.trace(s, this.xs(line), this.ys(line), { moveTo: (x, y) => { path += `M${x.toFixed(1)} ${y.toFixed(1)}`; }, lineTo: (x, y) => { path += `L${x.toFixed(1)} ${y.toFixed(1)}`; } }, 1);
      parts.push(`<path d="${path}" stroke="${line.color}"><title>${escape(line.name)}</title></path>`);
    }
    const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" font-family="sans-serif" font-size="11" fill="#555"><title>${escape(this.options.title)}</title>${parts.join("")}</g></svg>`;
    save(this.name("svg"), new Blob([text], { type: "image/svg+xml" }));
  }

  name(suffix) { return this.options.title.replace(/[^\w.-]+/g, "_").slice(0, 60) + "." + suffix; }
}
