// The tuner: trials of mindoptimizer as they come in, the best so far, and which parameters they had.
import { get } from "../api.js";
import { Chart } from "../chart.js";
import { fill, h, nothing, picker, short } from "../dom.js";
import * as state from "../state.js";

const EXAMPLE = `command: python train.py        # reads mindinsight.optimizer.hyper_config.HyperConfig()
summary_base_dir: {folder}
tuner: {name: gp}               # or tpe, random
target: {name: accuracy, goal: maximize}
parameters:
  learning_rate: {bounds: [0.0001, 0.1], type: float}
  hidden: {choice: [16, 64, 256]}
`;

export default {
  async show(root, run, about) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Tuner")));
    const { studies } = await get("board/studies");
    if (!studies.length) { root.append(nothing("No study yet", "Start one with ", h("code", {}, "mindoptimizer --config search.yaml --iter 20"), "; it appears here while it runs. A file to begin with:"), h("pre", { class: "card example" }, EXAMPLE.replace("{folder}", () => about.folder))); return {}; }
    const at = Math.max(0, studies.findIndex((s) => s.name === state.get("study"))), study = studies[at], sign = study.goal === "minimize" ? -1 : 1;
    const done = study.trials.filter((t) => t.value !== null && t.value !== undefined), best = done.reduce((b, t) => !b || sign * t.value > sign * b.value ? t : b, null);
    const stat = (title, value) => h("div", { class: "stat" }, h("b", {}, value), h("span", {}, title));
    if (studies.length > 1) root.append(h("div", { class: "bar" }, picker(studies.map((s) => [s.name, s.name]), study.name, (v) => { state.set("study", v, true); root.replaceChildren(); this.show(root, run, about); }, "Study")));
    root.append(h("div", { class: "stats" }, stat("study", study.name), stat("method", study.method), stat("trials", `${done.length} of ${study.trials.length}`), stat(`${study.goal} ${study.target}`, best ? short(best.value) : "–")));
    const box = h("div", { class: "plot", style: "height:260px" });
    root.append(h("section", { class: "card", style: "margin-bottom:14px" }, h("div", { class: "top" }, h("h3", {}, `${study.target} by trial, and the best so far`)), box));
    const chart = new Chart(box, { title: study.target });
    let top = -Infinity;
    const numbers = done.map((t) => t.number), line = (id, name, color, values) => ({ id, name, color, begin: 0, steps: Float64Array.from(numbers), seconds: Float32Array.from(done, (t) => t.seconds || 0), values: Float32Array.from(values) });
    chart.set([line("value", "trial", "#56b4e9", done.map((t) => t.value)), line("best", "best so far", "#d55e00", done.map((t) => { top = Math.max(top, sign * t.value); return sign * top; }))]);
    const names = Object.keys(study.parameters), rows = study.trials.slice().sort((a, b) => sign * ((b.value ?? -sign * Infinity) - (a.value ?? -sign * Infinity)));
    root.append(h("div", { class: "scroll" }, h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["trial", "state", study.target, ...names].map((n) => h("th", { class: n === "state" ? "" : "num" }, n)))), h("tbody", {}, rows.map((t) => h("tr", {}, h("td", { class: "num" }, t.number, t === best ? " ★" : ""), h("td", {}, t.state), h("td", { class: "num" }, short(t.value)), names.map((n) => h("td", { class: "num" }, short(t.parameters[n])))))))));
    return { live: () => { root.replaceChildren(); this.show(root, run, about); } };
  },
};
