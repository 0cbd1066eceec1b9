// Where a step's time goes: one sentence, then steps, operators, memory, data, and the trace.
import { address, get } from "../api.js";
import { Chart, ticks } from "../chart.js";
import { categorical } from "../colors.js";
import { bytes, fill, h, ink, nothing, picker, seconds, short, surface } from "../dom.js";
import * as state from "../state.js";

// parts of a step and their colours; what they are called, the profile says
const PARTS = [["compute_ms", 0], ["data_wait_ms", 1], ["other_ms", 3]];

// All ranks side by side: where their steps go, and which one holds the others up.
async function ranks(run, choose) {
  const { ranks: all, advice, parts } = await get("board/cluster", { train_id: run }), longest = Math.max(1e-9, ...all.map((r) => r.mean.total_ms || 0));
  const part = (rank, [key, c]) => h("i", { title: `${parts[key]}: ${(rank.mean[key] || 0).toFixed(2)} ms`, style: `display:inline-block;height:12px;width:${100 * (rank.mean[key] || 0) / longest}%;background:${categorical(c)}` });
  const row = (rank) => h("tr", {}, h("td", {}, h("button", { class: "quiet", onclick: () => choose(rank.name) }, rank.name)), h("td", { class: "num" }, short(rank.steps)), h("td", { class: "num" }, rank.mean.total_ms ? seconds(rank.mean.total_ms / 1e3) : "–"),
    h("td", { style: "width:40%" }, h("div", { style: "white-space:nowrap;overflow:hidden" }, rank.mean.total_ms ? PARTS.map((p) => part(rank, p)) : null)), h("td", { class: "num" }, rank.peak ? bytes(rank.peak) : "–"), h("td", { class: "num" }, rank.flops_per_second ? short(rank.flops_per_second / 1e9) : "–"));
  return h("section", { class: "ranks", style: "margin-bottom:14px" }, h("h2", { style: "margin-bottom:8px" }, `${all.length} ranks`), advice.map((line) => h("div", { class: "advice" }, line)),
    h("div", { style: "margin:8px 0" }, PARTS.map(([key, c]) => h("span", { class: "count", style: "margin-right:12px" }, h("i", { class: "dot", style: `display:inline-block;background:${categorical(c)};margin-right:5px` }), parts[key]))),
    h("div", { class: "scroll" }, h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["Rank", "Steps", "Mean step", "Parts of it", "Peak memory", "GFLOP/s"].map((t) => h("th", { class: t === "Rank" || t === "Parts of it" ? "" : "num" }, t)))), h("tbody", {}, all.map(row)))));
}

// Operations of one call of each graph, by place in the network.
function counted(rows) {
  const total = rows.reduce((sum, r) => sum + r.flops, 0) || 1;
  const row = (r) => h("tr", {}, h("td", {}, r.graph), h("td", {}, r.place || "(outermost)"), h("td", { class: "num" }, short(r.calls)), h("td", { class: "num" }, short(r.flops / 1e6)), h("td", { style: "width:200px" }, h("div", { class: "barline", style: "grid-template-columns:1fr 50px" }, h("div", { class: "track" }, h("i", { style: `width:${100 * r.flops / total}%` })), h("span", { class: "count" }, (100 * r.flops / total).toFixed(1) + " %"))));
  return h("div", { class: "scroll" }, h("table", { class: "grid flops" }, h("thead", {}, h("tr", {}, [["Graph"], ["Place"], ["Calls", "num"], ["MFLOP a call", "num"], ["Share"]].map(([t, c]) => h("th", { class: c || "" }, t)))), h("tbody", {}, rows.slice(0, 200).map(row))));
}

// The parts of the data pipeline, sources first, and how much was ready when the training asked.
function prepared(parts, queue) {
  const slowest = Math.max(...parts.map((p) => p.task_us)), empty = queue.filter(([, ready]) => ready === 0).length;
  const row = (p) => h("tr", { class: p.task_us === slowest ? "slowest" : "" }, h("td", { title: p.step }, p.step), h("td", { class: "num" }, short(p.workers)), h("td", { class: "num" }, short(p.rows)), h("td", { class: "num" }, seconds(p.total_us / 1e6)), h("td", { class: "num" }, seconds(p.total_us / p.tasks / 1e6)), h("td", { class: "num" }, seconds(p.task_us / 1e6)),
    h("td", { style: "width:180px" }, h("div", { class: "barline", style: "grid-template-columns:1fr" }, h("div", { class: "track" }, h("i", { style: `width:${100 * p.task_us / slowest}%${p.task_us === slowest ? ";background:var(--warn)" : ""}` })))));
  const box = h("div", { class: "plot", style: "height:150px" });
  const card = h("section", { class: "card", style: "margin:12px 0 18px" }, h("div", { class: "top" }, h("h3", {}, "Batches ready when the training asked"), h("span", { class: "count" }, queue.length ? `nothing was ready in ${(100 * empty / queue.length).toFixed(0)} % of ${short(queue.length)} requests` : "")), box);
  if (queue.length) { const chart = new Chart(box, { title: "ready", axis: "relative" }); chart.set([{ id: "ready", name: "ready", color: categorical(0), begin: 0, steps: Float64Array.from(queue, (_, i) => i), seconds: Float32Array.from(queue, ([at]) => (at - queue[0][0]) / 1e6), values: Float32Array.from(queue, ([, ready]) => ready) }]); }
  return [h("div", { class: "scroll" }, h("table", { class: "grid preparation" }, h("thead", {}, h("tr", {}, [["Part"], ["Workers", "num"], ["Rows", "num"], ["Total", "num"], ["One batch", "num"], ["A batch every", "num"], [""]].map(([t, c]) => h("th", { class: c || "" }, t)))), h("tbody", {}, parts.map(row)))), queue.length ? card : null].filter(Boolean);
}

// The parts of the data pipeline of an official profile, sources first, and how full the queue behind each was.
function queues(parts) {
  const row = (p) => h("tr", {}, h("td", {}, p.part), h("td", { class: "num" }, short(p.workers)), h("td", { class: "num" }, p.queue == null ? "–" : short(p.queue)), h("td", { class: "num" }, p.ready == null ? "–" : short(p.ready)),
    h("td", { style: "width:200px" }, p.queue == null ? "" : h("div", { class: "barline", style: "grid-template-columns:1fr 50px" }, h("div", { class: "track" }, h("i", { style: `width:${100 * p.usage}%` })), h("span", { class: "count" }, (100 * p.usage).toFixed(1) + " %"))));
  return h("div", { class: "scroll" }, h("table", { class: "grid preparation" }, h("thead", {}, h("tr", {}, [["Part"], ["Workers", "num"], ["Longest queue", "num"], ["Mean queue", "num"], ["In use"]].map(([t, c]) => h("th", { class: c || "" }, t)))), h("tbody", {}, parts.slice().reverse().map(row))));
}

export default {
  side: "one", kind: ["profile"],
  async show(root, run) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Profiler"), h("span", { class: "count" }, run || "")));
    const { profiles } = run ? await get("board/profiles", { train_id: run }) : { profiles: [] };
    if (!profiles.length) { root.append(nothing("No profile in this run", "Profile into the run's folder: Profiler(output_path=\"run/profiler\") … analyse().")); return {}; }
    const name = profiles.includes(state.get("profile")) ? state.get("profile") : profiles[0], data = await get("board/profile", { train_id: run, profile: name });
    const again = (v) => { state.set("profile", v, true); root.replaceChildren(); this.show(root, run); };
    if (profiles.length > 1) root.append(await ranks(run, again), h("div", { class: "bar" }, h("label", {}, "Rank or profile", picker(profiles.map((p) => [p, p]), name, again, "Profile"))));
    const stat = (title, value) => h("div", { class: "stat" }, h("b", {}, value), h("span", {}, title));
    root.append(h("div", { class: "advice" }, h("b", {}, data.sentence), data.advice.map((line) => h("div", {}, line))),
      h("div", { class: "stats" }, stat("steps", short(data.steps.length)), stat("mean step", data.mean ? seconds(data.mean.total_ms / 1e3) : "–"), stat("in operators and kernels", seconds(data.busy_us / 1e6)), stat("peak memory", data.peak ? bytes(data.peak) : "–"), ...(data.flops_per_second ? [stat("GFLOP/s over the steps", short(data.flops_per_second / 1e9))] : [])),
      h("div", { class: "bar" }, h("a", { href: address("board/trace", { train_id: run, profile: name }), download: "trace_view.json" }, "Trace for Perfetto (JSON)")));
    const grid = h("div", { class: "cards", style: "--card-width:460px;margin-bottom:14px" });
    root.append(grid);
    if (data.steps.length) {
      const box = h("div", { class: "plot", style: "height:220px" }), steps = data.steps.slice(-240), sorted = steps.map((s) => s.total_ms).sort((a, b) => a - b), most = Math.min(sorted[sorted.length - 1], 3 * sorted[Math.floor(sorted.length * 0.9)]);
      surface(box, (context, width, height) => {
        const w = (width - 60) / steps.length, y = (v) => v / most * (height - 40);
        context.font = "11px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--faint"); context.textAlign = "right";
        for (const v of ticks(0, most, 4)) context.fillText(v ? seconds(v / 1e3) : "0", 54, height - 24 - y(v) + 4);
        steps.forEach((s, i) => { let base = height - 24; for (const [key, c] of PARTS) { const tall = Math.min(y(s[key]), base - 10); context.fillStyle = categorical(c); context.fillRect(60 + i * w, base - tall, Math.max(0.7, w - (w > 4 ? 1 : 0)), tall); base -= tall; } });
        context.fillStyle = ink("--faint"); context.textAlign = "center"; context.fillText("step " + steps[0].step, 80, height - 8); context.fillText(String(steps[steps.length - 1].step), width - 16, height - 8);
      });
      grid.append(h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, "Steps"), PARTS.map(([key, c]) => [data.parts[key], c]).map(([text, c]) => h("span", { class: "count", style: "margin-left:10px" }, h("i", { class: "dot", style: `display:inline-block;background:${categorical(c)};margin-right:5px` }), text))), box));
    }
    if (data.memory.length) {
      const box = h("div", { class: "plot", style: "height:220px" }), chart = new Chart(box, { title: "memory", axis: data.over === "node" ? "step" : "relative" });
      const places = [...new Set(data.memory.map((m) => m[1]))];
      chart.set(places.map((where, i) => { const rows = data.memory.filter((m) => m[1] === where), begin = rows[0][0]; return { id: where, name: where, color: categorical(i), begin: 0, steps: Float64Array.from(rows, (_, k) => k), seconds: Float32Array.from(rows, (r) => (r[0] - begin) / 1e6), values: Float32Array.from(rows, (r) => r[2] / 1e6) }; }));
      grid.append(h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, data.over === "node" ? "Memory (MB) over the nodes of graphs" : "Memory (MB)")), box));
    }
    const { parts, queue } = data.preparation;
    if (parts.length) root.append(h("h2", { style: "margin-bottom:8px" }, "Data preparation"), ...prepared(parts, queue));
    if ((data.preparation.official || []).length) root.append(h("h2", { style: "margin-bottom:8px" }, "Data preparation"), queues(data.preparation.official));
    const kinds = [...new Set(data.operators.map((o) => o.kind))], kind = kinds.includes(state.get("kind")) ? state.get("kind") : kinds.includes("kernel") ? "kernel" : kinds[0];
    const rows = data.operators.filter((o) => o.kind === kind), total = rows.reduce((sum, o) => sum + o.total_us, 0) || 1, table = h("table", { class: "grid operators" });
    let order = "total_us", down = true;
    const draw = () => {
      const sorted = rows.slice().sort((a, b) => (down ? -1 : 1) * (typeof a[order] === "number" ? a[order] - b[order] : String(a[order]).localeCompare(b[order])));
      fill(table, h("thead", {}, h("tr", {}, [["name", "Name"], ["count", "Calls"], ["total_us", "Total"], ["mean_us", "Mean"], ["max_us", "Longest"]].map(([key, text]) => h("th", { class: key === "name" ? "" : "num", onclick: () => { down = order === key ? !down : true; order = key; draw(); } }, text, order === key ? (down ? " ↓" : " ↑") : "")), h("th", {}, "Share"))),
        h("tbody", {}, sorted.slice(0, 200).map((o) => h("tr", {}, h("td", { title: o.name }, o.name), h("td", { class: "num" }, short(o.count)), h("td", { class: "num" }, seconds(o.total_us / 1e6)), h("td", { class: "num" }, seconds(o.mean_us / 1e6)), h("td", { class: "num" }, o.max_us == null ? "–" : seconds(o.max_us / 1e6)), h("td", { style: "width:200px" }, h("div", { class: "barline", style: "grid-template-columns:1fr 50px" }, h("div", { class: "track" }, h("i", { style: `width:${100 * o.total_us / total}%` })), h("span", { class: "count" }, (100 * o.total_us / total).toFixed(1) + " %")))))));
    };
    draw();
    if (kinds.length) root.append(h("div", { class: "bar" }, h("h2", {}, "Operators"), picker(kinds.map((k) => [k, k]), kind, (v) => { state.set("kind", v, true); root.replaceChildren(); this.show(root, run); }, "Kind"), h("span", { class: "count" }, `${rows.length} names, ${seconds(total / 1e6)}`)), h("div", { class: "scroll" }, table));
    if (data.flops.length) root.append(h("h2", { style: "margin:18px 0 8px" }, "Floating-point operations"), counted(data.flops));
    return {};
  },
};
