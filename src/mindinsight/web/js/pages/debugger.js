// The debugger: watchpoints and what they hit, from a running training or from a dump folder.
import { get } from "../api.js";
import { h, nothing, short } from "../dom.js";

export default {
  async show(root, run, about) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Debugger")));
    const { folders } = await get("board/dumps");
    if (!folders.length) {
      root.append(nothing("No dump folder here", "Train with MINDSPORE_DUMP_CONFIG pointing below this folder; offline analysis: ", h("code", {}, "mindinsight.debugger.DumpAnalyzer(folder)"), about && about.debugger ? "" : "; the online debugger: mindinsight start --enable-debugger True."));
      return {};
    }
    root.append(h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["Dump folder", "Ranks", "Networks", "Steps", "Tensors", "Bytes"].map((t) => h("th", {}, t)))), h("tbody", {}, folders.map((f) => h("tr", {}, h("td", {}, f.name), h("td", {}, f.ranks.join(", ")), h("td", {}, f.networks.join(", ")), h("td", {}, f.steps.length > 12 ? `${f.steps.length} steps, ${f.steps[0]} to ${f.steps[f.steps.length - 1]}` : f.steps.join(", ")), h("td", { class: "num" }, short(f.tensors)), h("td", { class: "num" }, short(f.bytes)))))));
    return {};
  },
};
