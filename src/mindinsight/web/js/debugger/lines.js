// The user's source as far as the graph names it: lines with the operations that come from them, and the other way round.
import { fill, h } from "../dom.js";

export const FRAMEWORK = /\/mindspore\//; // lines of the framework's own layers: seldom what somebody looks for

export class SourceLines {
  constructor(session) {
    this.session = session; this.chosen = [];
    this.node = h("div", { class: "card source" });
    const { lines, sources } = session.graph, found = new Map();
    lines.forEach((list, leaf) => { for (const line of list) { if (!found.has(line)) found.set(line, []); found.get(line).push(leaf); } });
    this.leaves = found;
    this.files = new Map();
    sources.forEach((source, number) => { if (!this.files.has(source.file_path)) this.files.set(source.file_path, []); this.files.get(source.file_path).push(number); });
    this.draw();
  }

  // Mark the lines (numbers of sources, the innermost first) of a node.
  choose(lines) {
    this.chosen = lines;
    this.draw();
    const first = this.node.querySelector("li.on");
    if (first) first.scrollIntoView({ block: "nearest" });
  }

  draw() {
    const { session } = this, { sources } = session.graph;
    const run = (source) => session.command({ level: "line", line: `${source.file_path}:${source.line_no}` });
    const row = (number) => {
      const source = sources[number], leaves = this.leaves.get(number) || [];
      return h("li", { class: this.chosen.includes(number) ? "on" : "", value: source.line_no },
        h("button", { class: "quiet line", title: `${source.code_line}\nShow the ${leaves.length} operations of this line`, onclick: () => this.show(number) }, h("code", {}, source.code_line || "…"), h("span", { class: "count" }, leaves.length)),
        session.dump ? null : h("button", { class: "quiet go", title: "Run to this line", "aria-label": `Run to line ${source.line_no}`, onclick: () => run(source) }, "▶"));
    };
    const file = ([path, numbers]) => [h("h3", { title: path }, path.split("/").pop(), " ", h("span", { class: "count" }, path.split("/").slice(0, -1).join("/"))),
      h("ol", { class: "lines" }, [...numbers].sort((a, b) => sources[a].line_no - sources[b].line_no).map(row))];
    const scroll = this.node.scrollTop, all = [...this.files], own = all.filter(([path]) => !FRAMEWORK.test(path)), others = all.filter(([path]) => FRAMEWORK.test(path));
    const open = this.folded ? this.folded.open : !own.length;
    this.folded = others.length ? h("details", { open }, h("summary", {}, `In the framework (${others.length} files)`), others.map(file)) : null;
    fill(this.node, h("h2", {}, "Source"), all.length ? null : h("p", { class: "count" }, "The graph names no source lines."), own.map(file), this.folded);
    this.node.scrollTop = scroll;
  }

  show(number) {
    const { view } = this.session, leaves = (this.leaves.get(number) || []).map((i) => view.holder[i]);
    view.show(leaves);
    this.chosen = [number];
    this.draw();
  }
}
