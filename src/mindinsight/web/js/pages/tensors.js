// Tensors: statistics over the steps, a table of any slice, a heat map, and the difference of two steps.
import { get } from "../api.js";
import { diverging, rgb } from "../colors.js";
import { fill, h, nothing, picker, segments, short, surface } from "../dom.js";
import * as state from "../state.js";

function number(value) { return typeof value === "number" ? value : value === "NAN" ? NaN : value === "INF" ? Infinity : -Infinity; }
function matrix(data) { const rows = Array.isArray(data[0]) ? data : [data]; return rows.map((row) => row.map(number)); }

export default {
  side: "one", kind: ["tensor"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const { tags } = await get("board/things", { kind: "tensor", train_id: run }), names = Object.keys(tags), body = h("div");
    root.append(h("div", { class: "bar" }, h("h1", {}, "Tensors"), h("span", { class: "count" }, `${names.length} tags in ${run}`)), body);
    if (!names.length) { fill(body, nothing("No tensors in this run", "SummaryRecord.add_value(\"tensor\", …) records them.")); return {}; }
    const tag = names.includes(state.get("tensor")) ? state.get("tensor") : names[0], steps = tags[tag].map(([step]) => step);
    const { tensors: [{ values }] } = await get("datavisual/tensors", { train_id: run, tag, detail: "stats" });
    let step = state.number("step", steps[steps.length - 1]), other = state.get("with"), dims = state.get("dims");
    if (!steps.includes(step)) step = steps[steps.length - 1];
    const about = values.find((v) => v.step === step) || values[values.length - 1], shape = about.value.dims;
    if (!dims || dims.split(",").length !== Math.max(1, shape.length)) dims = "[" + shape.map((n, i) => (i < shape.length - 2 ? "0" : n > 40 ? "0:40" : ":")).join(", ") + "]";
    const place = h("input", { type: "text", value: dims, size: 24, class: "mono", "aria-label": "Slice", onchange: () => { state.set("dims", place.value, true); draw(); } });
    const view = h("span"), out = h("div"), mode = () => state.get("as", "table");
    const views = () => fill(view, segments([["table", "Table"], ["heat", "Heat map"]], mode(), (v) => { state.set("as", v, true); views(); draw(); }, "View"));
    views();
    const again = (name) => (value) => { state.set(name, value, true); root.replaceChildren(); this.show(root, run); };
    const stat = (name, value) => h("div", { class: "stat" }, h("b", {}, value), h("span", {}, name));
    const s = about.value.statistics;
    fill(body, h("div", { class: "bar" }, picker(names.map((n) => [n, n]), tag, again("tensor"), "Tensor"), h("label", {}, "Step", picker(steps.map((n) => [String(n), short(n)]), String(step), again("step"), "Step")),
      h("label", {}, "minus", picker([["", "nothing"], ...steps.filter((n) => n !== step).map((n) => [String(n), "step " + short(n)])], other, again("with"), "Compare with")), h("label", {}, "Slice", place), h("span", { class: "spacer" }), view),
      h("div", { class: "stats" }, stat("shape", shape.length ? shape.join(" × ") : "scalar"), stat("type", about.value.data_type.replace("DT_", "").toLowerCase()), stat("lowest", short(s.min)), stat("mean", short(s.avg)), stat("highest", short(s.max)), stat("NaN", short(s.nan_count)), stat("infinite", short(s.neg_inf_count + s.pos_inf_count)), stat("zeros", s.count ? (100 * s.overall_zero_count / s.count).toFixed(1) + " %" : "–")), out);
    const draw = async () => {
      try {
        const table = async (at) => matrix((await get("datavisual/tensors", { train_id: run, tag, step: at, dims: place.value, detail: "data" })).tensors[0].values[0].value.data);
        let rows = await table(step);
        if (other) { const before = await table(+other); rows = rows.map((row, i) => row.map((v, j) => v - before[i][j])); }
        fill(out, mode() === "heat" ? heat(rows) : cells(rows));
      } catch (error) { fill(out, h("p", { class: "error" }, error.message)); }
    };
    const cells = (rows) => {
      const flat = rows.flat().filter(Number.isFinite).map(Math.abs), most = Math.max(1e-30, ...flat.slice(0, 100000));
      return h("div", { class: "scroll" }, h("table", { class: "cells" }, h("tr", {}, h("th"), rows[0].map((_, j) => h("th", {}, j))),
        rows.slice(0, 200).map((row, i) => h("tr", {}, h("th", {}, i), row.slice(0, 200).map((v) => { const c = Number.isFinite(v) ? diverging(v / most * 0.7) : [255, 120, 120]; return h("td", { style: `background:rgb(${c});color:#1b2430` }, Number.isFinite(v) ? short(v) : String(v)); })))));
    };
    const heat = (rows) => {
      const box = h("div", { class: "card" }, h("div", { class: "plot", style: "height:420px" })), flat = rows.flat().filter(Number.isFinite), low = Math.min(...flat), high = Math.max(...flat), both = low < 0 && high > 0, most = Math.max(Math.abs(low), Math.abs(high));
      const image = new ImageData(rows[0].length, rows.length);
      rows.forEach((row, i) => row.forEach((v, j) => image.data.set([...(Number.isFinite(v) ? both ? diverging(v / most) : rgb((v - low) / (high - low || 1)) : [255, 0, 0]), 255], 4 * (i * row.length + j))));
      const small = new OffscreenCanvas(rows[0].length, rows.length);
      small.getContext("2d").putImageData(image, 0, 0);
      surface(box.firstChild, (context, width, height) => { const k = Math.min(width / small.width, height / small.height); context.imageSmoothingEnabled = false; context.drawImage(small, 0, 0, small.width * k, small.height * k); });
      box.append(h("span", { class: "count" }, `${short(low)} to ${short(high)}; red: not a number`));
      return box;
    };
    await draw();
    return {};
  },
};
