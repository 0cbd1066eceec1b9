// The data pipeline as a graph: sources at the top, what the network gets at the bottom.
import { get } from "../api.js";
import { categorical } from "../colors.js";
import { fill, h, ink, nothing, surface } from "../dom.js";

const KIND = { MapDataset: 0, BatchDataset: 2, ShuffleDataset: 3, RepeatDataset: 3, ZipDataset: 5 };

export default {
  side: "one", kind: ["lineage"],
  async show(root, run) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Dataset graph"), h("span", { class: "count" }, run || "")));
    const { dataset_graph: top } = run ? await get("datasets/dataset_graph", { train_id: run }) : {};
    if (!top || !Object.keys(top).length) { root.append(nothing("No data pipeline in this run", "SummaryCollector records it (collect_dataset_graph).")); return {}; }
    const nodes = [], edges = [];
    const place = (node, depth) => {
      const own = { node, depth, name: node.op_type || node.dataset_type || "Dataset", parts: (node.operations || []).map((o) => o.tensor_op_name || o.operation_name || "operation") };
      const below = (node.children || []).map((child) => place(child, depth + 1));
      own.h = 40 + 16 * own.parts.length;
      own.row = below.length ? below.reduce((sum, b) => sum + b.row, 0) / below.length : (place.rows = (place.rows || 0) + 1) - 1;
      nodes.push(own);
      for (const b of below) edges.push([b, own]);
      return own;
    };
    place(top, 0);
    const deep = Math.max(...nodes.map((n) => n.depth)), about = h("div", { class: "card" }), box = h("div", { class: "graph" });
    let chosen = nodes[nodes.length - 1], shift = [0, 0];
    const tops = [], wide = 240 * (1 + Math.max(...nodes.map((n) => n.row)));
    for (let depth = deep, y = 30; depth >= 0; depth--) { tops[depth] = y; y += 46 + Math.max(...nodes.filter((n) => n.depth === depth).map((n) => n.h)); }
    for (const n of nodes) { n.x = n.row * 240 + 20; n.y = tops[n.depth]; n.w = 200; }
    let k = 1, left = 0;
    const stage = surface(box, (context, width) => {
      k = Math.min(1, width / wide);
      context.translate(shift[0] + Math.max(0, (width - k * wide) / 2), shift[1]); context.scale(k, k); left = Math.max(0, (width - k * wide) / 2);
      context.strokeStyle = ink("--faint"); context.lineWidth = 1.6;
      for (const [a, b] of edges) { const x1 = a.x + a.w / 2, x2 = b.x + b.w / 2, y1 = a.y + a.h, y2 = b.y; context.beginPath(); context.moveTo(x1, y1); context.bezierCurveTo(x1, y1 + 20, x2, y2 - 20, x2, y2); context.stroke(); context.beginPath(); context.moveTo(x2 - 4, y2 - 6); context.lineTo(x2, y2); context.lineTo(x2 + 4, y2 - 6); context.stroke(); }
      for (const n of nodes) {
        const color = categorical(KIND[n.name] ?? (n.node.children && n.node.children.length ? 6 : 1));
        context.beginPath(); context.roundRect(n.x, n.y, n.w, n.h, 9); context.fillStyle = ink("--card"); context.fill();
        context.globalAlpha = 0.16; context.fillStyle = color; context.fill(); context.globalAlpha = 1;
        context.strokeStyle = n === chosen ? ink("--accent") : color; context.lineWidth = n === chosen ? 2.5 : 1.4; context.stroke();
        context.fillStyle = ink("--ink"); context.font = "600 13px system-ui, 'Liberation Sans', sans-serif"; context.textBaseline = "middle"; context.fillText(n.name.replace("Dataset", "") || n.name, n.x + 12, n.y + 20);
        context.fillStyle = ink("--soft"); context.font = "11.5px system-ui, 'Liberation Sans', sans-serif";
        n.parts.forEach((part, i) => context.fillText("› " + part, n.x + 12, n.y + 40 + 16 * i));
      }
    });
    const facts = () => {
      const rows = (o) => Object.entries(o).filter(([key, value]) => !["children", "operations", "sampler"].includes(key) && value !== null && value !== "").map(([key, value]) => [h("dt", {}, key), h("dd", { class: "mono" }, Array.isArray(value) ? value.join(", ") : String(value))]);
      fill(about, h("h2", {}, chosen.name), h("dl", { class: "facts" }, rows(chosen.node)), chosen.node.sampler ? [h("h3", {}, "Sampler"), h("dl", { class: "facts" }, rows(chosen.node.sampler))] : null, (chosen.node.operations || []).map((o) => [h("h3", {}, o.tensor_op_name || "operation"), h("dl", { class: "facts" }, rows(o))]));
    };
    stage.canvas.addEventListener("click", (e) => { const x = (e.offsetX - shift[0] - left) / k, y = (e.offsetY - shift[1]) / k, n = nodes.find((m) => x >= m.x && x <= m.x + m.w && y >= m.y && y <= m.y + m.h); if (n) { chosen = n; facts(); stage.redraw(); } });
    let drag = null;
    stage.canvas.addEventListener("pointerdown", (e) => { drag = [e.clientX - shift[0], e.clientY - shift[1]]; });
    stage.canvas.addEventListener("pointermove", (e) => { if (drag) { shift = [e.clientX - drag[0], e.clientY - drag[1]]; stage.redraw(); } });
    window.addEventListener("pointerup", () => { drag = null; });
    facts();
    root.append(h("div", { class: "split" }, box, about));
    return {};
  },
};
