// What TensorBoard's writers keep besides: texts, sound, curves of precision and recall. What has no page is named.
import { address, get } from "../api.js";
import { Chart } from "../chart.js";
import { categorical } from "../colors.js";
import { counted, elided, fill, h, later, nothing, patternField, regex, short } from "../dom.js";
import * as state from "../state.js";

const KINDS = ["text", "audio", "curve"];

async function text(box, query) {
  const { texts } = await get("board/text", query);
  fill(box, texts.map((one) => h("pre", { class: "written" }, one)));
}

async function audio(box, query) {
  fill(box, h("audio", { controls: true, preload: "none", src: address("board/audio", query) }));
}

async function curve(box, query) {
  const { recall, precision } = await get("board/curve", query), plot = h("div", { class: "plot" });
  fill(box, plot, h("span", { class: "count" }, "precision over recall"));
  const chart = new Chart(plot, { title: query.tag, fractions: true });
  chart.set([{ id: "curve", name: "precision", color: categorical(0), begin: 0, steps: Float64Array.from(recall), seconds: new Float32Array(recall.length), values: Float32Array.from(precision) }]);
}

const SHOW = { text, audio, curve };

function card(kind, run, tag, steps) {
  const box = h("div", { class: "content" }), about = h("span", { class: "count" });
  const show = async () => {
    const step = steps[+slider.value];
    about.textContent = `step ${short(step)}`;
    try { await SHOW[kind](box, { train_id: run, tag, step }); } catch (error) { fill(box, h("p", { class: "error" }, error.message)); }
  };
  const slider = h("input", { type: "range", min: 0, max: steps.length - 1, value: steps.length - 1, style: "width:100%", "aria-label": `Step of ${tag}`, oninput: later(show, 60) });
  show();
  return h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, elided(tag)), about), steps.length > 1 ? slider : null, box);
}

export default {
  side: "one", kind: [...KINDS, "unshown"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const found = [];
    for (const kind of KINDS) {
      const { tags } = await get("board/things", { kind, train_id: run });
      for (const [tag, rows] of Object.entries(tags)) found.push({ kind, tag, steps: [...new Set(rows.map(([step]) => step))] });
    }
    const { unshown } = await get("board/unshown", { train_id: run });
    const grid = h("div", { class: "cards" });
    const filter = patternField("tag-filter", "tags", state.get("tag"), (text) => { state.set("tag", text, true); layout(); });
    root.append(h("div", { class: "bar" }, h("h1", {}, "Text and sound"), filter, h("span", { class: "count" }, counted(found.length, "tag"))), grid);
    const layout = () => {
      const pattern = regex(filter.value);
      fill(grid, found.filter(({ tag }) => !pattern || pattern.test(tag)).map(({ kind, tag, steps }) => card(kind, run, tag, steps)));
    };
    layout();
    if (!found.length) fill(grid, nothing("No texts, sound or curves in this run", "Writers of TensorBoard's format record them (add_text, add_audio, add_pr_curve)."));
    if (unshown.length) root.append(h("div", { class: "note", style: "margin-top:14px" }, h("h3", {}, "Not shown"), unshown.map(({ tag, plugin, reason }) => h("div", {}, h("code", {}, tag), ` (${plugin}): ${reason}.`))));
    return {};
  },
};
