// The explainer: what in an image made the network say what it said, and how far such maps can be trusted.
import { address, get, post } from "../api.js";
import { fill, h, nothing, short } from "../dom.js";
import * as state from "../state.js";

export default {
  side: "one", kind: ["explain"],
  async show(root, run) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Explainer"), h("span", { class: "count" }, run || "")));
    let job;
    try { job = await get("explainer/explain-job", { train_id: run }); } catch { job = null; }
    if (!job || !job.sample_count) { root.append(nothing("No explanations in this run", "Saliency maps (gradient, deconvolution, guided, GradCAM, RISE, occlusion) and their measures are read from files that end in _explain.")); return {}; }
    const page = state.number("page", 0), limit = 12, found = await post("explainer/saliency", { train_id: run, offset: page, limit, labels: null });
    const methods = job.saliency.explainers, picture = (url) => h("img", { src: address("explainer/image", Object.fromEntries(new URLSearchParams(url.slice(url.indexOf("?"))))), alt: "", style: "width:112px;height:112px;object-fit:cover;border-radius:6px" });
    const { explainer_scores: scores } = await get("explainer/evaluation", { train_id: run });
    if (scores.length) {
      const metrics = [...new Set(scores.flatMap((s) => s.evaluations.map((e) => e.metric)))];
      root.append(h("h2", { style: "margin-bottom:8px" }, "How good the methods are"), h("table", { class: "grid", style: "margin-bottom:18px;max-width:760px" }, h("thead", {}, h("tr", {}, h("th", {}, "Method"), metrics.map((m) => h("th", { class: "num" }, m)))), h("tbody", {}, scores.map((s) => h("tr", {}, h("td", {}, s.explainer), metrics.map((m) => h("td", { class: "num" }, short((s.evaluations.find((e) => e.metric === m) || {}).score))))))));
    }
    root.append(h("div", { class: "bar" }, h("h2", {}, "Samples"), h("span", { class: "count" }, `${found.count}`), h("button", { disabled: !page, onclick: () => turn(-1) }, "←"), h("button", { disabled: (page + 1) * limit >= found.count, onclick: () => turn(1) }, "→")));
    const turn = (by) => { state.set("page", page + by, true); root.replaceChildren(); this.show(root, run); };
    for (const sample of found.samples) root.append(h("section", { class: "card", style: "margin-bottom:12px;display:grid;grid-template-columns:auto 1fr;gap:16px" }, h("div", {}, picture(sample.image), h("div", { class: "count" }, `sample ${sample.id}`)),
      h("div", { style: "display:flex;flex-wrap:wrap;gap:16px" }, sample.inferences.map((inference) => h("div", {}, h("h3", {}, inference.label, " ", h("span", { class: "count" }, short(inference.confidence))), h("div", { style: "display:flex;flex-wrap:wrap;gap:8px" }, inference.saliency_maps.filter((m) => methods.includes(m.explainer)).map((m) => h("div", {}, h("div", { style: "position:relative;height:112px" }, picture(sample.image), h("div", { style: "position:absolute;inset:0" }, picture(m.overlay))), h("div", { class: "count" }, m.explainer)))))))));
    return {};
  },
};
