// Watchpoints: what is watched, by which condition, and what was found.
import { fill, h, picker, short } from "../dom.js";

import { FRAMEWORK } from "./lines.js";

const plain = (id) => id.replaceAll("_", " ");

export class Watching {
  constructor(session) {
    this.session = session; this.conditions = []; this.points = []; this.hits = []; this.place = null;
    this.node = h("div", { class: "card watching" });
    this.kind = ""; this.values = {};
  }

  async load() {
    const { session } = this;
    if (!this.conditions.length) this.conditions = (await session.ask("condition-collections")).flatMap((c) => c.conditions);
    this.points = (await session.ask("retrieve", { mode: "watchpoint" })).watch_points || [];
    const found = await session.ask("search-watchpoint-hits", { group_condition: {} });
    this.hits = this.inOrder(found.watch_point_hits || []); this.outdated = found.outdated;
    this.draw();
  }

  // The scope or node that a new watchpoint is for.
  scope(scope) { this.place = scope; if (!this.node.contains(document.activeElement)) this.draw(); }

  draw() {
    const { session } = this, said = (params) => params.filter((p) => p.value !== undefined && p.value !== null).map((p) => `${plain(p.name)} ${short(p.value)}`).join(", ");
    const point = (w) => h("li", {}, h("span", { class: "what" }, h("b", { title: w.watch_condition.id }, `${w.id} `, plain(w.watch_condition.id)), " ", h("span", { class: "count" }, said(w.watch_condition.params))),
      h("button", { class: "quiet", "aria-label": `Delete watchpoint ${w.id}`, title: "Delete", onclick: () => session.act(async () => { await session.ask("delete-watchpoint", { watch_point_id: w.id }); await this.load(); }) }, "✕"));
    const values = (w) => w.watch_condition.params.map((p) => `${plain(p.name)} ${short(p.value)}${p.actual_value !== undefined && p.actual_value !== null ? `, is ${short(p.actual_value)}` : ""}`).join("; ");
    const hit = (found) => found.tensors.map((t) => t.watch_points.map((w) => h("li", {}, h("button", { class: "quiet", title: found.node_name, onclick: () => this.show(found.node_name) }, h("b", {}, found.node_name.split("/").pop()), h("span", { class: "count" }, ` ${plain(w.watch_condition.id)} ${values(w)} ${w.error_list.join(" ")}`), this.line(found.node_name)))));
    const count = this.hits.reduce((sum, f) => sum + f.tensors.reduce((n, t) => n + t.watch_points.length, 0), 0);
    const hits = [h("h2", {}, "Hits in this step", count ? h("span", { class: "count" }, ` ${count}`) : ""), this.outdated ? h("p", { class: "count" }, "Watchpoints have changed since: recheck.") : null,
      count ? h("ul", { class: "points hits" }, this.hits.map(hit)) : h("p", { class: "count" }, "None.")];
    fill(this.node, count ? [hits, h("h2", { style: "margin-top:14px" }, "Watchpoints")] : h("h2", {}, "Watchpoints"), this.points.length ? h("ul", { class: "points" }, this.points.map(point)) : h("p", { class: "count" }, "None yet."),
      this.points.length ? null : h("button", { onclick: () => this.recommend() }, "Add the recommended ones"), this.form(), count ? null : hits);
  }

  form() {
    const { session } = this, kinds = this.conditions.map((c) => [c.id, plain(c.id)]);
    if (!kinds.length) return null;
    const condition = this.conditions.find((c) => c.id === this.kind) || this.conditions.find((c) => c.id === "tensor_overflow") || this.conditions[0];
    this.kind = condition.id;
    const fields = condition.parameters.map((p) => { const input = h("input", { type: "number", step: "any", value: this.values[p.name] ?? p.default_value ?? "", "aria-label": p.name, oninput: () => { this.values[p.name] = input.value; } }); return [p.name, input]; });
    const add = () => session.act(async () => {
      const params = fields.filter(([, input]) => input.value !== "").map(([name, input]) => ({ name, value: +input.value }));
      await this.create(condition.id, params);
      this.values = {};
      await this.load();
    });
    return h("form", { class: "watch", onsubmit: (e) => { e.preventDefault(); add(); } }, picker(kinds, this.kind, (v) => { this.kind = v; this.values = {}; this.draw(); }, "Condition"),
      fields.map(([name, input]) => h("label", {}, plain(name), input)), h("div", { class: "count", title: this.place ? this.place.path : "" }, "on ", this.place ? this.place.label : "the whole network"), h("button", { type: "submit" }, "Watch"));
  }

  async create(id, params) {
    const { session } = this;
    const nodes = this.place ? (this.place.leaf >= 0 ? [session.graph.asked[this.place.leaf]] : [this.place.path]) : await this.everything();
    await session.ask("create-watchpoint", { condition: { id, params }, watch_nodes: nodes, graph_name: session.graph.graph_name });
  }

  async everything() {
    const all = await this.session.ask("retrieve", { mode: "node", params: { name: "", graph_name: this.session.graph.graph_name } });
    return all.graph.nodes.map((n) => n.name);
  }

  recommend() {
    return this.session.act(async () => { await this.session.ask("set-recommended-watch-points", { requestBody: { set_recommended: true } }); await this.load(); });
  }

  // As the step computes them: the first bad tensor is the one to look at, what follows inherits from it. Parameters are written last.
  inOrder(hits) {
    const { graph } = this.session;
    const place = ({ node_name: name }) => { const node = this.session.leafOf(name); return !node || graph.types[node.leaf] === "Parameter" ? graph.names.length : node.leaf; };
    return hits.map((hit) => [place(hit), hit]).sort((a, b) => a[0] - b[0]).map(([, hit]) => hit);
  }

  // The user's line that an operation comes from; of the framework's own layers where there is no other.
  line(name) {
    const { graph } = this.session, leaf = this.session.leafOf(name), lines = leaf && leaf.leaf >= 0 ? graph.lines[leaf.leaf] || [] : [];
    const source = lines.map((number) => graph.sources[number]).sort((a, b) => FRAMEWORK.test(a.file_path) - FRAMEWORK.test(b.file_path))[0];
    return source ? h("span", { class: "where", title: `${source.file_path}:${source.line_no}` }, `${source.file_path.split("/").pop()}:${source.line_no}  ${source.code_line.trim()}`) : null;
  }

  // Look at what was found first.
  showFirst() { if (this.hits.length) this.show(this.hits[0].node_name); }

  show(name) {
    const leaf = this.session.leafOf(name);
    if (leaf) this.session.view.reveal(leaf);
  }
}
