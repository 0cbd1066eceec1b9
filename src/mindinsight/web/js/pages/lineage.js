// Lineage: hyper-parameters and results of all runs; parallel coordinates with brushes, importance, scatter.
import { post } from "../api.js";
import { ticks } from "../chart.js";
import { hue } from "../colors.js";
import { fill, h, ink, nothing, picker, short, surface } from "../dom.js";
import * as runs from "../runs.js";
import * as state from "../state.js";

/** Those of some ticks whose labels do not cover one another, from the ends of the axis inwards. */
const apart = (ticks, y, room = 12) => {
  const shown = [];
  for (const tick of [...ticks].sort((a, b) => Math.min(a[0], 1 - a[0]) - Math.min(b[0], 1 - b[0]))) if (shown.every((other) => Math.abs(y(other[0]) - y(tick[0])) >= room)) shown.push(tick);
  return shown;
};

export default {
  async show(root) {
    const all = runs.runs().filter((run) => run.config || run.metric), names = runs.parameters();
    root.append(h("div", { class: "bar" }, h("h1", {}, "Lineage"), h("span", { class: "count" }, `${all.length} runs that say what they were trained with`)));
    if (!all.length) { root.append(nothing("No lineage yet", "SummaryCollector records it; custom_lineage_data adds your own columns. TensorBoard's HParams are read, too.")); return {}; }
    const varied = names.filter((name) => new Set(all.map((run) => String(runs.value(run, name)))).size > 1);
    const found = await post("optimizer/targets/search", {}), targets = found.targets.map((t) => t.name);
    const proper = (name) => name.startsWith("[M]") ? "metric/" + name.slice(3) : name.replace(/^\[U\]/, "");
    const goal = targets.includes(state.get("goal")) ? state.get("goal") : targets.find((t) => t.startsWith("[M]")) || targets[0];
    const goalName = goal ? proper(goal) : varied[0], columns = [...varied.filter((n) => n !== goalName && !/path|model_size|dataset_mark|_count/.test(n)).slice(0, 9), ...(goalName ? [goalName] : [])];
    // a result may be called like a parameter
    const title = (name) => name.startsWith("metric/") ? name.slice(7) + (names.includes(name.slice(7)) ? " (result)" : "") : name;
    const brushes = new Map();
    const axis = (name) => {
      const values = all.map((run) => runs.value(run, name)), numbers = values.filter((v) => typeof v === "number");
      if (numbers.length && numbers.length === values.filter((v) => v !== undefined).length) {
        const { low, high, log } = runs.span(numbers);
        return { name, number: true, low, high, log, at: (v) => v === undefined ? null : low === high ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low), ticks: (new Set(numbers).size <= 6 ? [...new Set(numbers)] : ticks(low, high, 5, log)).map((v) => [low === high ? 0.5 : log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low), short(v)]) };
      }
      const kinds = [...new Set(values.filter((v) => v !== undefined).map(String))].sort();
      return { name, number: false, at: (v) => v === undefined ? null : kinds.length > 1 ? kinds.indexOf(String(v)) / (kinds.length - 1) : 0.5, ticks: kinds.slice(0, 12).map((k, i) => [kinds.length > 1 ? i / (kinds.length - 1) : 0.5, k]) };
    };
    const axes = columns.map(axis), kept = (run) => axes.every((a) => { const b = brushes.get(a.name); if (!b) return true; const v = a.at(runs.value(run, a.name)); return v !== null && v >= b[0] && v <= b[1]; });
    const last = axes[axes.length - 1];
    const color = (run) => { const v = last.at(runs.value(run, last.name)); return v === null ? "#999" : hue(v); };
    const box = h("div", { class: "plot", style: "height:330px" }), count = h("span", { class: "count" });
    const top = 34, bottom = 18, place = (i, width) => 70 + i * (width - 150) / Math.max(1, axes.length - 1);
    const stage = surface(box, (context, width, height) => {
      const y = (s) => height - bottom - s * (height - top - bottom);
      for (const pass of [false, true]) for (const run of all) {
        if (kept(run) !== pass) continue;
        context.beginPath();
        let open = false;
        axes.forEach((a, i) => { const s = a.at(runs.value(run, a.name)); if (s === null) { open = false; return; } context[open ? "lineTo" : "moveTo"](place(i, width), y(s)); open = true; });
        context.strokeStyle = pass ? color(run) : ink("--line"); context.globalAlpha = pass ? (all.length > 200 ? 0.5 : 0.85) : 0.5; context.lineWidth = pass ? (run.id === marked ? 3.5 : 1.6) : 1; context.stroke();
      }
      context.globalAlpha = 1;
      axes.forEach((a, i) => {
        const x = place(i, width);
        context.strokeStyle = ink("--soft"); context.lineWidth = 1; context.beginPath(); context.moveTo(x, y(0)); context.lineTo(x, y(1)); context.stroke();
        context.font = "600 12px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--ink"); context.textAlign = "center"; context.textBaseline = "middle";
        const text = title(a.name); context.fillText(text.length > 18 ? text.slice(0, 17) + "…" : text, x, 14);
        context.font = "10.5px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--soft"); context.textAlign = i === axes.length - 1 ? "left" : "right";
        context.strokeStyle = ink("--card"); context.lineWidth = 3.5;
        for (const [s, label] of apart(a.ticks, y)) for (const pen of ["strokeText", "fillText"]) context[pen](String(label).slice(0, 14), x + (i === axes.length - 1 ? 8 : -8), y(s));
        const b = brushes.get(a.name);
        if (b) { context.fillStyle = ink("--accent"); context.globalAlpha = 0.3; context.fillRect(x - 7, y(b[1]), 14, y(b[0]) - y(b[1])); context.globalAlpha = 1; }
      });
      count.textContent = `${all.filter(kept).length} of ${all.length} runs; drag along an axis to narrow, click it to clear`;
    });
    let drag = null, marked = 0;
    const pick = (e) => { const width = box.clientWidth, height = box.clientHeight, i = axes.findIndex((_, k) => Math.abs(place(k, width) - e.offsetX) < 16); return [i, Math.max(0, Math.min(1, (height - bottom - e.offsetY) / (height - top - bottom)))]; };
    stage.canvas.addEventListener("pointerdown", (e) => { const [i, s] = pick(e); if (i >= 0) { drag = [axes[i].name, s]; stage.canvas.setPointerCapture(e.pointerId); } });
    stage.canvas.addEventListener("pointermove", (e) => { if (!drag) return; const [, s] = pick(e); brushes.set(drag[0], [Math.min(s, drag[1]), Math.max(s, drag[1])]); stage.redraw(); });
    stage.canvas.addEventListener("pointerup", () => { if (drag) { const b = brushes.get(drag[0]); if (!b || b[1] - b[0] < 0.02) brushes.delete(drag[0]); drag = null; table(); dots.redraw(); stage.redraw(); } });

    // Importance and scatter
    const target = found.targets.find((t) => t.name === goal), bars = h("div");
    if (target) fill(bars, target.hyper_parameters.slice(0, 10).map((p) => h("div", { class: "barline" }, h("span", { title: proper(p.name) }, proper(p.name)), h("div", { class: "track" }, h("i", { style: `width:${100 * p.importance}%` })), h("span", { class: "count" }, p.reason_code ? "–" : p.importance.toFixed(2)))));
    const horizontal = varied.includes(state.get("px")) ? state.get("px") : target && target.hyper_parameters.length && !target.hyper_parameters[0].reason_code ? proper(target.hyper_parameters[0].name) : columns[0];
    const h1 = axis(horizontal), v1 = axis(goalName), cloud = h("div", { class: "plot", style: "height:240px" });
    const dots = surface(cloud, (context, width, height) => {
      const x = (s) => 60 + s * (width - 80), y = (s) => height - 34 - s * (height - 50);
      context.font = "11px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--faint"); context.strokeStyle = ink("--line");
      context.textAlign = "center"; for (const [s, t] of h1.ticks) context.fillText(String(t).slice(0, 12), x(s), height - 12);
      context.textAlign = "right"; for (const [s, t] of apart(v1.ticks, y)) { context.fillText(String(t).slice(0, 10), 54, y(s) + 4); context.beginPath(); context.moveTo(60, y(s)); context.lineTo(width - 16, y(s)); context.stroke(); }
      for (const run of all) { const a = h1.at(runs.value(run, horizontal)), b = v1.at(runs.value(run, goalName)); if (a === null || b === null) continue; context.beginPath(); context.arc(x(a), y(b), run.id === marked ? 7 : 5, 0, 7); context.globalAlpha = kept(run) ? 0.85 : 0.15; context.fillStyle = color(run); context.fill(); context.strokeStyle = ink("--card"); context.stroke(); }
      context.globalAlpha = 1;
    });
    const again = (name) => (v) => { state.set(name, v, true); root.replaceChildren(); this.show(root); };

    // Table
    const grid = h("table", { class: "grid" }), order = { by: goalName, down: true };
    const shown = ["name", ...varied.slice(0, 20)];
    const value = (run, name) => name === "name" ? runs.label(run) : runs.value(run, name);
    const table = () => {
      const rows = all.filter(kept).sort((a, b) => (order.down ? -1 : 1) * runs.compare(value(a, order.by), value(b, order.by)));
      fill(grid, h("thead", {}, h("tr", {}, shown.map((name) => h("th", { onclick: () => { order.down = order.by === name ? !order.down : true; order.by = name; table(); } }, title(name), order.by === name ? (order.down ? " ↓" : " ↑") : "")))),
        h("tbody", {}, rows.slice(0, 500).map((run) => h("tr", { onmouseenter: () => { marked = run.id; stage.redraw(); dots.redraw(); } }, shown.map((name) => { const v = value(run, name); return h("td", { class: typeof v === "number" ? "num" : "" }, name === "name" ? [h("i", { class: "dot", style: `display:inline-block;margin-right:8px;background:${color(run)}` }), v] : short(v)); })))));
    };
    table();
    root.append(h("section", { class: "card", style: "margin-bottom:14px" }, h("div", { class: "top" }, h("h3", {}, "Parallel coordinates"), count, targets.length ? h("label", {}, "Target", picker(targets.map((t) => [t, title(proper(t))]), goal, again("goal"), "Target")) : null), box),
      h("div", { class: "cards", style: "--card-width:420px;margin-bottom:14px" }, h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, `What goes with ${goalName ? title(goalName) : "the target"} (|correlation|)`)), bars),
        h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, `${goalName ? title(goalName) : ""} over`), picker(varied.map((n) => [n, n]), horizontal, again("px"), "Horizontal")), cloud)), h("div", { class: "scroll" }, grid));
    return {};
  },
};
