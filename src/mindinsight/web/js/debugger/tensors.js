// The tensors of the chosen node in the step at hand: statistics, table, heat map, comparison with the step before.
import { fill, h, segments, short } from "../dom.js";
import { cells, firstSlice, heat, matrix } from "../matrix.js";
import * as state from "../state.js";

const TRIES = 3; // a node's tensors may come in several answers; what has not been computed yet never comes
const STATISTICS = [["overall_min", "lowest"], ["overall_avg", "mean"], ["overall_max", "highest"], ["overall_count", "elements"], ["overall_zero_count", "zeros"], ["overall_nan_count", "NaN"], ["overall_pos_inf_count", "∞"], ["overall_neg_inf_count", "−∞"]];

export class Tensors {
  constructor(session) {
    this.session = session; this.leaf = null; this.name = ""; this.slice = ""; this.turn = 0;
    this.node = h("section", { class: "card tensors", style: "margin-top:14px" });
    this.draw([]);
  }

  async choose(leaf) {
    this.leaf = leaf; this.name = ""; this.slice = "";
    await this.reload();
  }

  // Ask, wait for the training to send, ask again; null when another question has come since.
  async until(question, there) {
    const mine = ++this.turn;
    let reply = await question();
    for (let answers = 0; answers < TRIES && !there(reply) && this.session.metadata.state === "waiting";) {
      const news = await this.session.news();
      if (mine !== this.turn) return null;
      if (news.receive_tensor) { answers++; reply = await question(); }
    }
    return mine === this.turn ? reply : null;
  }

  async reload() {
    const { session } = this;
    if (this.leaf === null) { this.draw([]); return; }
    const body = { name: session.graph.asked[this.leaf], graph_name: session.graph.graph_name };
    if (session.graph.types[this.leaf] === "Const") { this.draw([]); return; }
    const reply = await this.until(() => session.ask("tensor-history", body), (r) => r.tensor_history.every((t) => t.shape));
    if (!reply) return;
    this.draw(reply.tensor_history);
    const there = reply.tensor_history.filter((t) => t.shape), first = there.find((t) => t.name === this.name) || there[0];
    if (first) await this.look(first);
  }

  draw(rows) {
    this.rows = rows;
    this.value = h("div");
    const head = h("thead", {}, h("tr", {}, ["", "Tensor", "Type", "Shape", "Bytes"].map((t) => h("th", {}, t))));
    const row = (t) => h("tr", { "aria-selected": t.name === this.name, onclick: () => t.shape && this.session.act(() => this.look(t)) }, h("td", {}, t.type), h("td", {}, h("button", { class: "quiet", disabled: !t.shape }, t.name)), h("td", {}, (t.dtype || "").replace("DT_", "").toLowerCase()), h("td", {}, t.shape ? `[${t.shape.join(", ")}]` : this.session.dump ? "not in the dump" : "not computed yet in this step"), h("td", { class: "num" }, t.bytes ? short(t.bytes) : ""));
    this.list = h("tbody", { class: "choices" }, rows.map(row));
    fill(this.node, h("h2", {}, "Tensors"), rows.length ? h("table", { class: "grid", style: "margin:8px 0" }, head, this.list) : h("p", { class: "count" }, "Choose an operation or a parameter in the graph: what it gives and what it reads is shown here, as of the step at hand."), this.value);
  }

  async look(tensor) {
    const { session } = this;
    if (this.name !== tensor.name) this.slice = "";
    this.name = tensor.name;
    this.slice ||= firstSlice(tensor.shape);
    for (const [i, row] of [...this.list.children].entries()) row.setAttribute("aria-selected", String(this.rows[i].name === tensor.name));
    const mode = state.get("as", "table"), comparing = mode === "compare", query = { name: tensor.name, shape: this.slice, graph_name: session.graph.graph_name, ...(comparing ? { tolerance: 0 } : {}) };
    const there = (r) => (comparing ? r.tensor_status === "cached" : r.tensor_value.value !== undefined);
    const reply = await this.until(() => session.ask(comparing ? "tensor-comparisons" : "tensors", undefined, query), there);
    if (!reply) return;
    const shown = there(reply) ? (comparing ? this.compared(reply.tensor_value) : this.plain(reply.tensor_value, mode)) : h("p", { class: "count" }, comparing ? "There is no value of the step before to compare with." : "The training has not sent this tensor.");
    const slice = h("input", { type: "text", value: this.slice, size: 20, class: "mono", "aria-label": "Slice", onchange: () => { this.slice = slice.value; session.act(() => this.look(tensor)); } });
    fill(this.value, h("div", { class: "bar" }, h("h3", {}, tensor.name), h("label", {}, "Slice", slice), h("span", { class: "spacer" }),
      segments([["table", "Table"], ["heat", "Heat map"], ["compare", "Against the step before"]], mode, (v) => { state.set("as", v, true); session.act(() => this.look(tensor)); }, "View")), shown);
  }

  plain(value, mode) {
    const rows = matrix(value.value);
    return [this.numbers([["", value.statistics]]), mode === "heat" ? heat(rows, 300) : cells(rows)];
  }

  compared(value) {
    const flat = value.diff, rows = Array.isArray(flat[0]) && Array.isArray(flat[0][0]) ? flat : Array.isArray(flat[0]) ? [flat] : [[flat]];
    const now = matrix(rows.map((row) => row.map((t) => t[0]))), before = matrix(rows.map((row) => row.map((t) => t[1]))), gap = matrix(rows.map((row) => row.map((t) => t[2])));
    return [this.numbers([["this step", value.curr_step_statistics], ["step before", value.prev_step_statistics], ["difference", value.statistics]]), cells(gap, (i, j) => `${now[i][j]} now, ${before[i][j]} before`)];
  }

  numbers(rows) {
    return h("table", { class: "grid statistics", style: "margin-bottom:10px" }, h("thead", {}, h("tr", {}, h("th"), STATISTICS.map(([, text]) => h("th", { class: "num" }, text)))),
      h("tbody", {}, rows.map(([title, s]) => h("tr", {}, h("td", {}, title), STATISTICS.map(([name]) => h("td", { class: "num" }, short(s[name])))))));
  }
}
