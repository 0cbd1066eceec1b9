// Tensors: statistics over the steps, a table of any slice, a heat map, and the difference of two steps.
import { get } from "../api.js";
import { counted, fill, h, nothing, picker, segments, short } from "../dom.js";
import { cells, firstSlice, heat, matrix } from "../matrix.js";
import * as state from "../state.js";

export default {
  side: "one", kind: ["tensor"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const { tags } = await get("board/things", { kind: "tensor", train_id: run }), names = Object.keys(tags), body = h("div");
    root.append(h("div", { class: "bar" }, h("h1", {}, "Tensors"), h("span", { class: "count" }, counted(names.length, "tag"))), body);
    if (!names.length) { fill(body, nothing("No tensors in this run", "SummaryRecord.add_value(\"tensor\", …) records them.")); return {}; }
    const tag = names.includes(state.get("tensor")) ? state.get("tensor") : names[0], steps = tags[tag].map(([step]) => step);
    const { tensors: [{ values }] } = await get("datavisual/tensors", { train_id: run, tag, detail: "stats" });
    let step = state.number("step", steps[steps.length - 1]), other = state.get("with"), dims = state.get("dims");
    if (!steps.includes(step)) step = steps[steps.length - 1];
    const about = values.find((v) => v.step === step) || values[values.length - 1], shape = about.value.dims;
    if (!dims || dims.split(",").length !== Math.max(1, shape.length)) dims = firstSlice(shape);
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
    await draw();
    return {};
  },
};
