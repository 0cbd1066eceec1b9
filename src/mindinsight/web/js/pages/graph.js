// The computational graph: the view, and beside it what is known of the chosen node.
import { get } from "../api.js";
import { fill, h, later, nothing, picker } from "../dom.js";
import { GraphView } from "../graphview.js";
import * as state from "../state.js";

// Attribute values come in protobuf's text form; people want to read [5, 5].
function plainly(text) {
  const list = text.replace(/dtype: \S+/g, "").replace(/values \{/g, "[").replace(/\}/g, "]").replace(/\w+_vals?: /g, " ").replace(/\s+/g, " ").trim();
  const flat = list.replace(/\[ ?([^[\] ]+) ?\]/g, "$1").replace(/\[ /g, "[").replace(/ \]/g, "]").replace(/ /g, ", ");
  return /values \{/.test(text) ? `[${flat}]` : flat;
}

const sizes = (shapes) => (shapes || []).map((s) => `[${s.join(", ")}]`).join(" ");

// A field that finds nodes by name or type.
export function finder(view, found) {
  const { graph } = view, results = h("div", { class: "card", hidden: true, style: "position:absolute;z-index:5;max-height:320px;overflow:auto;min-width:320px" });
  const search = later(() => {
    const text = field.value.toLowerCase(), list = [];
    results.hidden = !text;
    if (!text) return;
    for (let i = 0; i < graph.names.length && list.length < 100; i++) if (graph.names[i].toLowerCase().includes(text) || graph.types[i].toLowerCase().includes(text)) list.push(i);
    fill(results, list.length ? list.map((i) => h("div", {}, h("a", { href: "#", onclick: (e) => { e.preventDefault(); results.hidden = true; found(view.holder[i]); } }, graph.names[i]))) : "nothing found");
  }, 120);
  const field = h("input", { type: "search", id: "tag-filter", placeholder: "Find name or type", "aria-label": "Find nodes", oninput: search });
  return h("span", {}, field, results);
}

export default {
  side: "one", kind: ["graph"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const which = state.get("graph", "0");
    let graph;
    try { graph = await get("board/graph", { train_id: run, tag: which }); }
    catch (error) { root.append(h("div", { class: "bar" }, h("h1", {}, "Graph")), nothing("No graph in this run", "SummaryCollector records it (collect_graph) in graph mode. ", error.message)); return {}; }
    const about = h("div", { class: "card" }), box = h("div", { class: "graph" }), count = h("span", { class: "count" });
    let from = null;

    const scopeFacts = (scope) => {
      const kinds = new Map(), walk = [scope];
      while (walk.length) for (const child of walk.pop().children.values()) if (child.leaf >= 0) kinds.set(child.type, (kinds.get(child.type) || 0) + 1); else walk.push(child);
      about.append(h("dl", { class: "facts" }, h("dt", {}, "nodes"), h("dd", {}, scope.count.toLocaleString("en")), [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 14).map(([type, n]) => [h("dt", {}, type), h("dd", {}, n)])));
    };
    const neighbours = (title, found) => found.length ? [h("h3", { style: "margin-top:10px" }, `${title} (${found.length})`), h("div", {}, found.slice(0, 12).map((i) => h("div", {},
      h("a", { href: "#", onclick: (e) => { e.preventDefault(); view.reveal(view.holder[i]); } }, graph.names[i].split("/").slice(-2).join("/")), " ", h("span", { class: "count" }, sizes(graph.shapes[i])))))] : [];
    const nodeFacts = (scope, more) => about.append(
      h("dl", { class: "facts" }, h("dt", {}, "type"), h("dd", {}, scope.type), h("dt", {}, "result"), h("dd", {}, `${more.type.replace(/DT_/g, "")} ${sizes(more.shapes)}`)),
      ...neighbours("Inputs", graph.inputs[scope.leaf] || []), ...neighbours("Goes to", view.outputs[scope.leaf]),
      ...(more.stack.length ? [h("h3", { style: "margin-top:10px" }, "Source"), h("ol", { class: "stack" }, more.stack.map((line) => h("li", {}, `${line.file_path}:${line.line_no}`, h("span", { class: "code" }, line.code_line))))] : []),
      ...(more.attributes.length ? [h("h3", { style: "margin-top:10px" }, "Attributes"), h("dl", { class: "facts" }, more.attributes.slice(0, 40).map(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, plainly(value))]))] : []));

    async function facts(scope) {
      if (!scope) { fill(about, h("h2", {}, "Nothing chosen"), h("p", { class: "count" }, "Click a node. Double-click a scope to unfold it.")); return; }
      const hint = h("div", { class: "count" });
      const buttons = h("div", { class: "bar", style: "margin:8px 0" }, scope.leaf < 0 ? h("button", { onclick: () => view.unfold(scope) }, "Unfold") : null, scope.parent && scope.parent !== view.root ? h("button", { onclick: () => view.fold(scope) }, "Fold " + scope.parent.name) : null,
        h("button", { onclick: () => { if (from) join(scope); else { from = scope; hint.textContent = "Now choose the end and press the button again."; } } }, from ? "Path to here" : "Path from here"));
      fill(about, h("h2", { style: "overflow-wrap:anywhere" }, scope.label), h("div", { class: "count", style: "overflow-wrap:anywhere" }, scope.path), buttons, hint);
      if (scope.leaf < 0) { scopeFacts(scope); return; }
      const more = await get("board/graph/node", { train_id: run, tag: which, number: scope.leaf });
      if (view.chosen === scope) nodeFacts(scope, more);
    }
    const join = (to) => {
      const found = view.join(from, to);
      from = null;
      about.append(h("p", {}, found ? `The shortest path has ${view.path.size} nodes in view; it is marked.` : "There is no path in this direction."));
    };

    const check = h("input", { type: "checkbox", onchange: () => { view.constants = check.checked; view.refresh(); view.fit(); } }), bar = h("div", { class: "bar" });
    const choices = Array.from({ length: graph.graphs }, (_, i) => [String(i), `graph ${i}`]);
    root.append(bar, h("div", { class: "split" }, box, about));
  const view = new GraphView(box, graph, { chose: facts, moved: (nodes) => { count.textContent = `${nodes.length.toLocaleString("en")} of ${graph.names.length.toLocaleString("en")} nodes in view`; } });
    fill(bar, h("h1", {}, "Graph"), finder(view, (leaf) => view.reveal(leaf)), count, h("span", { class: "spacer" }), graph.graphs > 1 ? picker(choices, which, (v) => { state.set("graph", v, true); root.replaceChildren(); this.show(root, run); }, "Graph") : null,
      h("label", {}, check, "parameters and constants"), h("button", { onclick: () => view.foldAll() }, "Fold all"), h("button", { onclick: () => view.fit() }, "Fit"));
    facts(null);
    box.view = view;
    return {};
  },
};
