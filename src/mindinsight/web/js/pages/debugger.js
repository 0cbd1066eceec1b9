// The debugger: a training that waits for commands, or a folder of dumped steps; the graph and the source, watchpoints and what
// they hit, any tensor.
import { get, post } from "../api.js";
import { bytes, fill, h, nothing, picker, short } from "../dom.js";
import { GraphView } from "../graphview.js";
import * as state from "../state.js";
import { finder } from "./graph.js";
import { SourceLines } from "../debugger/lines.js";
import { Tensors } from "../debugger/tensors.js";
import { Watching } from "../debugger/watching.js";

const STATES = { pending: "no training", "receive graph": "receiving the graph", waiting: "paused", running: "running", sending: "running", mismatch: "versions differ" };

class Session {
  // number: "0" for the training that is connected, others for dump folders
  constructor(root, number, dump) {
    this.root = root; this.number = number; this.dump = dump; this.base = `debugger/sessions/${number}/`; this.metadata = { state: "pending" }; this.position = 0; this.closed = false; this.view = null; this.graph = null;
    this.waiters = [];
    this.bar = h("div", { class: "bar" }); this.body = h("div");
    this.message = h("p", { class: "error", role: "alert" });
    root.append(this.bar, this.message, this.body);
  }

  async ask(path, body, query) {
    if (this.dump) query = { ...query, rank_id: this.rank };
    const reply = await (body === undefined ? get(this.base + path, query) : post(this.base + path, body, query));
    if (reply.metadata && reply.metadata.state) Object.assign(this.metadata, reply.metadata);
    return reply;
  }

  // Do something that the user asked for; what goes wrong is said.
  async act(action) {
    try { this.message.textContent = ""; await action(); }
    catch (error) { this.message.textContent = error.message; }
    this.controls();
  }

  command(body) { return this.act(() => this.ask("control", { mode: "continue", ...body })); }

  async begin() {
    const all = await this.ask("retrieve", { mode: "all" });
    this.position = +all.metadata.pos || 0;
    await this.arrived();
    this.follow();
  }

  // News of the training, one after the other, until the page is left.
  async follow() {
    while (!this.closed) {
      let news;
      try { news = await this.ask("poll-data", undefined, { pos: this.position }); }
      catch (error) {
        this.message.textContent = error.message;
        await new Promise((done) => setTimeout(done, 2000));
        continue;
      }
      if (this.closed) return;
      this.position = +news.metadata.pos;
      for (const waiter of this.waiters.splice(0)) waiter(news);
      if (Object.keys(news).length > 1 || news.metadata.state) await this.act(() => this.changed(news));
    }
  }

  news() { return new Promise((done) => this.waiters.push(done)); }

  async changed(news) {
    if ((this.metadata.state === "pending") !== !this.graph || (news.metadata.state === "receive graph")) { await this.arrived(); return; }
    if (!this.graph) return;
    this.mark();
    const stepped = this.metadata.step !== this.shown || this.metadata.node_name !== this.shownNode;
    if (news.receive_watchpoint_hits || stepped) await this.watching.load();
    if (!stepped || this.metadata.state !== "waiting") return;
    this.shown = this.metadata.step; this.shownNode = this.metadata.node_name;
    if (this.watching.hits.length) { this.watching.showFirst(); return; }
    this.act(() => this.tensors.reload()); // not awaited: what it waits for is the next news
  }

  // A training has come or gone.
  async arrived() {
    const all = await this.ask("retrieve", { mode: "all" });
    this.graph = null;
    if (all.metadata.state === "pending" || !all.graph || !all.graph.graph_names) { await this.empty(); return; }
    this.ranks = (all.devices || []).map((d) => d.rank_id);
    const names = all.graph.graph_names, wanted = names.includes(state.get("graph_name")) ? state.get("graph_name") : names[0];
    this.names = names;
    this.graph = await get("board/debugger/graph", { graph_name: wanted, session: this.number, rank_id: this.dump ? this.rank : null });
    this.build();
    await this.watching.load();
  }

  async empty() {
    this.view = null;
    fill(this.bar, h("h1", {}, "Debugger"), h("span", { class: "tag" }, STATES.pending));
    fill(this.body, nothing("No training is connected", "Start one with ", h("code", {}, `ENABLE_MS_DEBUGGER=1 MS_DEBUGGER_PORT=${this.port || 50051} python train.py`), "; it pauses before its first step and shows up here."));
    await dumps(this.body, (folder) => this.act(() => this.open(folder)));
  }

  build() {
    const box = h("div", { class: "graph small" });
    this.watching = new Watching(this); this.lines = new SourceLines(this); this.tensors = new Tensors(this);
    fill(this.body, h("div", { class: "debug" }, this.watching.node, box, this.lines.node), this.tensors.node);
    this.view = new GraphView(box, this.graph, { chose: (scope) => this.chose(scope), moved: () => {} });
    box.view = this.view;
    this.mark();
    this.controls();
  }

  // A node of the graph was chosen: its lines and its tensors are shown.
  chose(scope) {
    this.lines.choose(scope && scope.leaf >= 0 ? this.graph.lines[scope.leaf] || [] : []);
    this.act(() => this.tensors.choose(scope && scope.leaf >= 0 ? scope.leaf : null));
    this.watching.scope(scope);
    this.controls();
  }

  // The place of an operation or Parameter by one of its names; a Parameter stands in several scopes and is drawn once.
  leafOf(name) {
    const { asked, names, types } = this.graph, last = name.split("/").pop();
    const found = [asked.indexOf(name), names.indexOf(name.replace(/[^/]+\[\d+\]_\d+\//g, "")), names.findIndex((n, i) => n === last && types[i] === "Parameter")].find((at) => at >= 0);
    return found === undefined ? null : this.view.holder[found];
  }

  mark() {
    const name = this.metadata.node_name, leaf = name ? this.leafOf(name) : null;
    if (leaf !== this.view.current) { this.view.current = leaf; if (leaf) this.view.show([leaf]); else this.view.stage.redraw(); }
  }

  controls() {
    if (!this.graph) return;
    const { state: now, step, node_name: node, enable_recheck: recheck } = this.metadata, paused = now === "waiting";
    if (this.bar.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return;
    const steps = h("input", { type: "number", min: 1, value: state.get("steps", "1"), style: "width:64px", "aria-label": "Steps", onchange: () => state.set("steps", steps.value, true) });
    const button = (text, title, on, action, kind = "") => h("button", { class: kind, title, disabled: !on, onclick: action }, text);
    const rest = [button("Recheck", "Check this step again with the watchpoints as they are now", paused && recheck, () => this.act(() => this.ask("recheck", {}))),
      this.names.length > 1 ? picker(this.names.map((n) => [n, n]), this.graph.graph_name, (v) => { state.set("graph_name", v, true); this.act(() => this.arrived()); }, "Graph") : null,
      this.view ? finder(this.view, (leaf) => this.view.reveal(leaf)) : null];
    if (this.dump) {
      const go = (value) => this.act(() => this.ask("control", { mode: "reset", steps: +value }));
      fill(this.bar, h("h1", {}, "Debugger"), h("span", { class: "tag on", title: "Dumped tensors" }, this.dump), this.ranks.length > 1 ? picker(this.ranks.map((r) => [String(r), `rank ${r}`]), String(this.rank ?? this.ranks[0]), (v) => { state.set("rank", v, true); this.open(this.dump); }, "Rank") : null, h("b", { class: "step" }, "step"), picker(this.steps.map((n) => [String(n), `${short(n)} (iteration ${short(n - 1)})`]), String(step), go, "Step"), h("span", { class: "count" }, `of ${short(this.metadata.total_step_num)}`),
        h("span", { class: "spacer" }), button("Next step", "Go to the next step that was dumped (s)", step < this.steps[this.steps.length - 1], () => this.command({ level: "step", steps: 1 }), "main"),
        button("To the next hit", "Check step after step, up to the next hit of a watchpoint (c)", step < this.steps[this.steps.length - 1], () => this.command({ level: "step", steps: -1 })), rest,
        button("Close", "Back to the list of dump folders", true, () => { state.set("dump", "", true); state.set("rank", "", true); this.close(); }));
      return;
    }
    fill(this.bar, h("h1", {}, "Debugger"), h("span", { class: paused ? "tag on" : "tag", "data-state": now }, STATES[now] || now), h("b", { class: "step" }, `step ${short(step)}`), node ? h("span", { class: "count", title: node }, "at " + node.split("/").pop()) : null,
      h("span", { class: "spacer" }),
      button("Step", "Make this many steps (s)", paused, () => this.command({ level: "step", steps: Math.max(1, parseInt(steps.value, 10) || 1) }), "main"), steps,
      button("Continue", "Run to the next hit of a watchpoint (c)", paused, () => this.command({ level: "step", steps: -1 })),
      button("Next node", "Run the next operation (n)", paused, () => this.command({ level: "node", name: "" })),
      button("Run to node", "Run to the chosen operation", paused && this.view && this.view.chosen && this.view.chosen.leaf >= 0 && this.view.chosen.leaf < this.graph.lines.length, () => this.command({ level: "node", name: this.graph.asked[this.view.chosen.leaf], graph_name: this.graph.graph_name })),
      button("Pause", "Stop after this step (p)", now === "running", () => this.act(() => this.ask("control", { mode: "pause" }))),
      button("End training", "Terminate the training", now !== "pending", () => { if (confirm("End the training?")) this.act(() => this.ask("control", { mode: "terminate" })); }), rest);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "p" && this.metadata.state === "running") this.act(() => this.ask("control", { mode: "pause" }));
    if (this.metadata.state !== "waiting") return;
    if (event.key === "s") this.command({ level: "step", steps: Math.max(1, state.number("steps", 1)) });
    else if (event.key === "c") this.command({ level: "step", steps: -1 });
    else if (event.key === "n" && !this.dump) this.command({ level: "node", name: "" });
  }
}

// Folders of dumped tensors; one that is clicked opens under the debugger.
async function dumps(root, open) {
  const { folders } = await get("board/dumps");
  if (!folders.length) return;
  const few = (steps) => steps.length > 12 ? `${steps.length} steps, ${steps[0]} to ${steps[steps.length - 1]}` : steps.join(", ");
  root.append(h("h2", { style: "margin-bottom:8px" }, "Dump folders"), h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["Folder", "Ranks", "Networks", "Iterations", "Tensors", "Size"].map((t) => h("th", {}, t)))),
    h("tbody", {}, folders.map((f) => h("tr", {}, h("td", {}, h("button", { class: "link", onclick: () => open(f.name) }, f.name)), h("td", {}, f.ranks.join(", ")), h("td", {}, f.networks.join(", ")), h("td", {}, few(f.steps)), h("td", { class: "num" }, short(f.tensors)), h("td", { class: "num" }, bytes(f.bytes)))))),
    h("p", { class: "count" }, "In Python: ", h("code", {}, "mindinsight.debugger.DumpAnalyzer(folder)")));
}

export default {
  async show(root, run, about) {
    let session = null;
    const key = (event) => session && session.key(event), online = about && about.debugger;
    document.addEventListener("keydown", key);
    const leave = () => { if (session) session.closed = true; session = null; root.replaceChildren(); };
    const begin = async (number, dump, ranks) => {
      leave();
      root.session = session = new Session(root, number, dump);
      session.open = look; session.close = front; session.port = about.debugger_port;
      session.rank = state.get("rank") || null;
      if (dump) session.steps = (await session.ask(`ranks/${session.rank || ranks[0]}/graph-runs`)).graph_runs.filter((r) => r.has_data).map((r) => r.count).filter((n, i, all) => all.indexOf(n) === i);
      await session.begin();
    };
    const look = async (folder) => {
      const number = await post("debugger/sessions", { session_type: "OFFLINE", dump_dir: folder });
      state.set("dump", folder, true);
      const { devices } = await post(`debugger/sessions/${number}/retrieve`, { mode: "all" });
      await begin(number, folder, devices.map((d) => d.rank_id));
    };
    const front = async () => {
      leave();
      if (online) { await begin("0"); return; }
      root.append(h("div", { class: "bar" }, h("h1", {}, "Debugger")), nothing("The online debugger is off", "Start the server with ", h("code", {}, "mindinsight start --enable-debugger True"), " to stop a training and look into it."));
      await dumps(root, (folder) => look(folder).catch((error) => { root.prepend(h("p", { class: "error", role: "alert" }, error.message)); }));
    };
    if (state.get("dump")) await look(state.get("dump")); else await front();
    return { close: () => { leave(); document.removeEventListener("keydown", key); }, repaint: () => session && session.view && session.view.stage.redraw() };
  },
};
