// Lineage: hyper-parameters and results of all runs; parallel coordinates with brushes, importance, scatter.
import { post } from "../api.js";
import { ticks } from "../chart.js";
import { hue } from "../colors.js";
import { counted, elided, fill, h, ink, nothing, picker, short, surface } from "../dom.js";
import * as runs from "../runs.js";
import * as state from "../state.js";

const MOST_AXES = 10, MOST_COLUMNS = 20, MOST_ROWS = 500;
const TOP = 34, BOTTOM = 18; // of the parallel coordinates
const FONT = "system-ui, 'Liberation Sans', sans-serif";

// Those of some ticks whose labels do not cover one another, from the ends of the axis inwards.
function apart(marks, y, room = 12) {
  const shown = [];
  const inwards = [...marks].sort((a, b) => Math.min(a[0], 1 - a[0]) - Math.min(b[0], 1 - b[0]));
  for (const tick of inwards) if (shown.every((other) => Math.abs(y(other[0]) - y(tick[0])) >= room)) shown.push(tick);
  return shown;
}

// Names of official targets: [M] a metric, [U] what the user added.
function column(target) { return target.startsWith("[M]") ? "metric/" + target.slice(3) : target.replace(/^\[U\]/, ""); }

// A result may be called like a parameter.
function title(name) {
  if (!name.startsWith("metric/")) return name;
  return name.slice(7) + (runs.parameters().includes(name.slice(7)) ? " (result)" : "");
}

// Where the values of a column stand between 0 and 1, and what is written beside the axis.
function axis(all, name) {
  const values = all.map((run) => runs.value(run, name)).filter((v) => v !== undefined), numbers = values.filter((v) => typeof v === "number");
  if (numbers.length && numbers.length === values.length) {
    const { low, high, log } = runs.span(numbers), kinds = [...new Set(numbers)];
    const place = (v) => low === high ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
    return { name, at: (v) => v === undefined ? null : place(v), ticks: (kinds.length <= 6 ? kinds : ticks(low, high, 5, log)).map((v) => [place(v), short(v)]) };
  }
  const kinds = [...new Set(values.map(String))].sort(), place = (v) => kinds.length > 1 ? kinds.indexOf(String(v)) / (kinds.length - 1) : 0.5;
  return { name, at: (v) => v === undefined ? null : place(v), ticks: kinds.slice(0, 12).map((k) => [place(k), k]) };
}

// What the parts of the page share: the runs, the axes, what is narrowed to, the run under the mouse.
class View {
  constructor(all, axes) { this.all = all; this.axes = axes; this.brushes = new Map(); this.marked = 0; this.parts = []; }
  at(run, axis) { return axis.at(runs.value(run, axis.name)); }
  get last() { return this.axes[this.axes.length - 1]; }
  kept(run) {
    return this.axes.every((axis) => {
      const range = this.brushes.get(axis.name), v = range ? this.at(run, axis) : 0;
      return !range || (v !== null && v >= range[0] && v <= range[1]);
    });
  }
  color(run) { const v = this.at(run, this.last); return v === null ? "#999" : hue(v); }
  redraw() { for (const part of this.parts) part(); }
}

function parallel(view) {
  const { all, axes, brushes } = view, box = h("div", { class: "plot", style: "height:330px" }), count = h("span", { class: "count" });
  const place = (i, width) => 70 + i * (width - 150) / Math.max(1, axes.length - 1);
  const line = (context, run, width, y) => {
    let open = false;
    context.beginPath();
    axes.forEach((axis, i) => {
      const v = view.at(run, axis);
      if (v !== null) context[open ? "lineTo" : "moveTo"](place(i, width), y(v));
      open = v !== null;
    });
  };
  const drawAxis = (context, axis, i, x, y) => {
    const last = i === axes.length - 1, text = title(axis.name), range = brushes.get(axis.name);
    context.strokeStyle = ink("--soft"); context.lineWidth = 1;
    context.beginPath(); context.moveTo(x, y(0)); context.lineTo(x, y(1)); context.stroke();
    context.font = `600 12px ${FONT}`; context.fillStyle = ink("--ink"); context.textAlign = "center"; context.textBaseline = "middle";
    const room = Math.max(8, Math.floor((place(1, box.clientWidth) - place(0, box.clientWidth) || 200) / 7.5));
    context.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x, 14);
    context.font = `10.5px ${FONT}`; context.fillStyle = ink("--soft"); context.textAlign = last ? "left" : "right";
    context.strokeStyle = ink("--card"); context.lineWidth = 3.5;
    for (const [s, label] of apart(axis.ticks, y)) for (const pen of ["strokeText", "fillText"]) context[pen](String(label).slice(0, 14), x + (last ? 8 : -8), y(s));
    if (range) { context.fillStyle = ink("--accent"); context.globalAlpha = 0.3; context.fillRect(x - 7, y(range[1]), 14, y(range[0]) - y(range[1])); context.globalAlpha = 1; }
  };
  const stage = surface(box, (context, width, height) => {
    const y = (s) => height - BOTTOM - s * (height - TOP - BOTTOM);
    for (const pass of [false, true]) for (const run of all) {
      if (view.kept(run) !== pass) continue;
      line(context, run, width, y);
      context.strokeStyle = pass ? view.color(run) : ink("--line");
      context.globalAlpha = !pass || all.length > 200 ? 0.5 : 0.85;
      context.lineWidth = !pass ? 1 : run.id === view.marked ? 3.5 : 1.6;
      context.stroke();
    }
    context.globalAlpha = 1;
    axes.forEach((axis, i) => drawAxis(context, axis, i, place(i, width), y));
    count.textContent = `${all.filter((run) => view.kept(run)).length} of ${counted(all.length, "run")}; drag along an axis to narrow, click it to clear`;
  });
  brushing(view, stage.canvas, box, place);
  view.parts.push(stage.redraw);
  return { box, count };
}

// Dragging along an axis keeps the runs in that range.
function brushing(view, canvas, box, place) {
  let drag = null;
  const pick = (event) => {
    const i = view.axes.findIndex((_, k) => Math.abs(place(k, box.clientWidth) - event.offsetX) < 16);
    return [i, Math.max(0, Math.min(1, (box.clientHeight - BOTTOM - event.offsetY) / (box.clientHeight - TOP - BOTTOM)))];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [i, s] = pick(event);
    if (i >= 0) { drag = { name: view.axes[i].name, from: s }; canvas.setPointerCapture(event.pointerId); }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [, s] = pick(event);
    view.brushes.set(drag.name, [Math.min(s, drag.from), Math.max(s, drag.from)]);
    view.redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (!drag) return;
    const range = view.brushes.get(drag.name);
    if (!range || range[1] - range[0] < 0.02) view.brushes.delete(drag.name);
    drag = null;
    view.redraw();
  });
}

function scatter(view, horizontal, vertical) {
  const box = h("div", { class: "plot", style: "height:240px" });
  const stage = surface(box, (context, width, height) => {
    const x = (s) => 60 + s * (width - 80), y = (s) => height - 34 - s * (height - 50);
    context.font = `11px ${FONT}`; context.fillStyle = ink("--faint"); context.strokeStyle = ink("--line");
    context.textAlign = "center";
    for (const [s, text] of apart(horizontal.ticks, x, 60)) context.fillText(String(text).slice(0, 12), x(s), height - 12);
    context.textAlign = "right";
    for (const [s, text] of apart(vertical.ticks, y)) {
      context.fillText(String(text).slice(0, 10), 54, y(s) + 4);
      context.beginPath(); context.moveTo(60, y(s)); context.lineTo(width - 16, y(s)); context.stroke();
    }
    for (const run of view.all) {
      const a = view.at(run, horizontal), b = view.at(run, vertical);
      if (a === null || b === null) continue;
      context.beginPath(); context.arc(x(a), y(b), run.id === view.marked ? 7 : 5, 0, 7);
      context.globalAlpha = view.kept(run) ? 0.85 : 0.15; context.fillStyle = view.color(run); context.fill();
      context.strokeStyle = ink("--card"); context.stroke();
    }
    context.globalAlpha = 1;
  });
  view.parts.push(stage.redraw);
  return box;
}

// How strongly each parameter goes with the target; those of which that cannot be told are left out.
function importance(target) {
  const told = target ? target.hyper_parameters.filter((p) => !p.reason_code).slice(0, 10) : [];
  if (!told.length) return h("p", { class: "count" }, "More runs with different numbers are needed to tell.");
  return told.map((p) => h("div", { class: "barline" }, h("span", { title: column(p.name) }, title(column(p.name))),
    h("div", { class: "track" }, h("i", { style: `width:${100 * p.importance}%` })), h("span", { class: "count" }, p.importance.toFixed(2))));
}

function table(view, names, first) {
  const grid = h("table", { class: "grid" });
  let by = first, down = true;
  const value = (run, name) => name === "name" ? runs.label(run) : runs.value(run, name);
  const order = (a, b) => {
    const x = value(a, by), y = value(b, by);
    return x === undefined || y === undefined ? runs.compare(x, y) : (down ? -1 : 1) * runs.compare(x, y); // runs without a value come last
  };
  const sort = (name) => { down = by === name ? !down : true; by = name; draw(); };
  const mark = (run) => { view.marked = run.id; view.redraw(); };
  const cell = (run, name) => {
    const v = value(run, name);
    if (name === "name") return h("td", {}, h("i", { class: "dot", style: `display:inline-block;margin-right:8px;background:${view.color(run)}` }), elided(v));
    return h("td", { class: typeof v === "number" ? "num" : "" }, short(v));
  };
  const head = (name) => h("th", { class: view.all.some((run) => typeof value(run, name) === "number") ? "num" : "", tabIndex: 0, onclick: () => sort(name), onkeydown: (e) => { if (e.key === "Enter") sort(name); } },
    title(name), by === name ? (down ? " ↓" : " ↑") : "");
  const draw = () => {
    const rows = view.all.filter((run) => view.kept(run)).sort(order).slice(0, MOST_ROWS);
    fill(grid, h("thead", {}, h("tr", {}, names.map(head))), h("tbody", {}, rows.map((run) => h("tr", { onmouseenter: () => mark(run) }, names.map((name) => cell(run, name))))));
  };
  let narrowed = "";
  view.parts.push(() => { const now = JSON.stringify([...view.brushes]); if (now !== narrowed) { narrowed = now; draw(); } });
  draw();
  return grid;
}

export default {
  async show(root) {
    const all = runs.runs().filter((run) => run.config || run.metric);
    root.append(h("div", { class: "bar" }, h("h1", {}, "Lineage"), h("span", { class: "count" }, `${counted(all.length, "run")} with hyper-parameters or results`)));
    if (!all.length) { root.append(nothing("No lineage yet", "SummaryCollector records it; custom_lineage_data adds your own columns. TensorBoard's HParams are read, too.")); return {}; }
    const differs = (name) => new Set(all.map((run) => runs.value(run, name)).filter((v) => v !== undefined).map(String)).size > 1;
    const varied = runs.parameters().filter(differs);
    const { targets } = await post("optimizer/targets/search", {}), names = targets.map((t) => t.name);
    const chosen = names.includes(state.get("goal")) ? state.get("goal") : names.find((t) => t.startsWith("[M]")) || names[0], target = targets.find((t) => t.name === chosen);
    const goal = chosen ? column(chosen) : varied[0] || runs.parameters()[0];
    const columns = varied.filter((name) => name !== goal && !/path|model_size|dataset_mark|_count/.test(name)).slice(0, MOST_AXES - 1);
    const view = new View(all, [...columns, goal].map((name) => axis(all, name)));
    const best = target && target.hyper_parameters.find((p) => !p.reason_code);
    const horizontal = varied.includes(state.get("px")) ? state.get("px") : best ? column(best.name) : columns[0] || goal;
    const again = (name) => (value) => { state.set(name, value, true); root.replaceChildren(); this.show(root); };
    const { box, count } = parallel(view), targetPicker = names.length ? h("label", {}, "Target", picker(names.map((t) => [t, title(column(t))]), chosen, again("goal"), "Target")) : null;
    const card = (top, ...content) => h("section", { class: "card" }, h("div", { class: "top" }, top), content);
    const wide = card([h("h3", {}, "Parallel coordinates"), count, targetPicker], box);
    wide.style.marginBottom = "14px";
    root.append(wide, h("div", { class: "cards", style: "--card-width:420px;margin-bottom:14px" },
      card(h("h3", {}, `What goes with ${title(goal)} (|correlation|)`), importance(target)),
      card([h("h3", {}, `${title(goal)} over`), picker(varied.map((n) => [n, title(n)]), horizontal, again("px"), "Horizontal")], scatter(view, axis(all, horizontal), axis(all, goal)))),
    h("div", { class: "scroll" }, table(view, ["name", ...varied.slice(0, MOST_COLUMNS)], goal)));
    return {};
  },
};
