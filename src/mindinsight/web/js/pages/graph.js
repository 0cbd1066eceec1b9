// The computational graph: scopes fold and unfold; only what is unfolded is laid out, so size does not matter.
//
// The names of nodes are paths; they make a tree of scopes. In view is a cut through that tree. An edge between two
// nodes is drawn between the two members of the cut that hold them. A layer is the longest way from the inputs; within a
// layer, nodes are ordered by the mean place of their neighbours, a few sweeps down and up (Sugiyama's method).
import { get } from "../api.js";
import { categorical } from "../colors.js";
import { fill, h, ink, later, nothing, picker, short, surface } from "../dom.js";
import * as state from "../state.js";

const MANY = 60; // members of a scope that are shown one by one

class Scope {
  constructor(name, path, parent) { this.name = name; this.path = path; this.parent = parent; this.children = new Map(); this.leaf = -1; this.count = 0; this.type = ""; this.members = null; }
  get label() { return this.name; }
}

function tree(graph) {
  const root = new Scope("", "", null), holder = [];
  graph.names.forEach((name, i) => {
    const parts = name.split("/");
    let here = root;
    parts.forEach((part, depth) => {
      const last = depth === parts.length - 1, key = last ? "\u0000" + i : part;
      if (!here.children.has(key)) here.children.set(key, new Scope(part, parts.slice(0, depth + 1).join("/"), here));
      here.count++;
      here = here.children.get(key);
    });
    here.leaf = i; here.type = graph.types[i]; here.count = 1;
    holder[i] = here;
  });
  bundle(root, graph);
  return { root, holder };
}

// Scopes with very many members of one type show them as one, which can be unfolded like a scope.
function bundle(scope, graph) {
  for (const child of [...scope.children.values()]) if (child.leaf < 0) bundle(child, graph);
  if (scope.children.size <= MANY) return;
  const kinds = new Map();
  for (const [key, child] of scope.children) if (child.leaf >= 0) { if (!kinds.has(child.type)) kinds.set(child.type, []); kinds.get(child.type).push([key, child]); }
  for (const [type, members] of kinds) {
    if (members.length < 5) continue;
    const group = new Scope(`${type} × ${members.length}`, (scope.path ? scope.path + "/" : "") + `[${type}]`, scope);
    group.type = type; group.bundle = true;
    for (const [key, child] of members) { scope.children.delete(key); child.parent = group; group.children.set(key, child); group.count++; }
    scope.children.set("\u0001" + type, group);
  }
}

// Attribute values come in protobuf's text form; people want to read [5, 5].
function plainly(text) {
  const list = text.replace(/dtype: \S+/g, "").replace(/values \{/g, "[").replace(/\}/g, "]").replace(/\w+_vals?: /g, " ").replace(/\s+/g, " ").trim();
  const flat = list.replace(/\[ ?([^[\] ]+) ?\]/g, "$1").replace(/\[ /g, "[").replace(/ \]/g, "]").replace(/ /g, ", ");
  return /values \{/.test(text) ? `[${flat}]` : flat;
}

export default {
  side: "one", kind: ["graph"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const which = state.get("graph", "0");
    let graph;
    try { graph = await get("board/graph", { train_id: run, tag: which }); }
    catch (error) { root.append(h("div", { class: "bar" }, h("h1", {}, "Graph")), nothing("No graph in this run", "SummaryCollector records it (collect_graph) in graph mode. ", error.message)); return {}; }
    const { root: top, holder } = tree(graph), outputs = graph.names.map(() => []);
    graph.inputs.forEach((list, i) => list.forEach((j) => outputs[j].push(i)));
    const open = new Set([top]), about = h("div", { class: "card" }), box = h("div", { class: "graph" });
    // unfold the smallest scopes first while what is in view stays small
    const front = new Set(top.children.values()), plain = (s) => s.type !== "Const" && s.type !== "Parameter";
    for (let shown = [...front].filter(plain).length;;) {
      const next = [...front].filter((s) => s.leaf < 0 && !s.bundle).sort((x, y) => x.children.size - y.children.size)[0];
      const more = next ? [...next.children.values()].filter(plain).length : 0;
      if (!next || shown - 1 + more > 26) break;
      shown += more - 1;
      front.delete(next); open.add(next);
      for (const child of next.children.values()) front.add(child);
    }
    let constants = false, chosen = null, path = null, nodes = [], edges = [], camera = { x: 0, y: 0, k: 1 }, marked = new Set();

    const visible = (leaf) => { let found = leaf; for (let s = leaf.parent; s; s = s.parent) if (!open.has(s)) found = s; return found; };
    const hidden = (scope) => !constants && (scope.type === "Const" || scope.type === "Parameter") && !marked.has(scope);

    function layout() {
      const list = [], index = new Map(), stack = [top];
      while (stack.length) { const scope = stack.pop(); for (const child of [...scope.children.values()].reverse()) if (open.has(child)) stack.push(child); else if (!hidden(child)) { index.set(child, list.length); list.push({ scope: child, in: new Set(), out: new Set(), layer: 0 }); } }
      const seen = new Map();
      graph.inputs.forEach((from, i) => {
        const a = index.get(visible(holder[i]));
        if (a === undefined) return;
        for (const j of from) {
          const b = index.get(visible(holder[j]));
          if (b === undefined || a === b) continue;
          list[a].in.add(b); list[b].out.add(a);
          const key = b * 1e6 + a;
          seen.set(key, (seen.get(key) || 0) + 1);
        }
      });
      // layers by the longest way; edges that close a cycle between folded scopes do not count
      const mark = new Int8Array(list.length), layer = new Int32Array(list.length);
      for (let start = 0; start < list.length; start++) {
        if (mark[start]) continue;
        const work = [[start, [...list[start].in], 0]];
        mark[start] = 1;
        while (work.length) {
          const frame = work[work.length - 1], [node, from] = frame;
          if (frame[2] < from.length) { const next = from[frame[2]++]; if (!mark[next]) { mark[next] = 1; work.push([next, [...list[next].in], 0]); } continue; }
          let deep = 0;
          for (const j of from) if (mark[j] === 2) deep = Math.max(deep, layer[j] + 1);
          layer[node] = deep; mark[node] = 2; work.pop();
        }
      }
      const layers = [];
      list.forEach((node, i) => { node.layer = layer[i]; (layers[layer[i]] ||= []).push(i); });
      const place = new Float64Array(list.length);
      layers.forEach((row) => row && row.forEach((i, k) => { place[i] = k - row.length / 2; }));
      for (let sweep = 0; sweep < 6; sweep++) {
        const order = sweep % 2 ? [...layers].reverse() : layers, side = sweep % 2 ? "out" : "in";
        for (const row of order) {
          if (!row) continue;
          const wish = new Map(row.map((i) => { const from = list[i][side]; let sum = 0; for (const j of from) sum += place[j]; return [i, from.size ? sum / from.size : place[i]]; }));
          row.sort((a, b) => wish.get(a) - wish.get(b));
          row.forEach((i, k) => { place[i] = k - (row.length - 1) / 2; });
        }
      }
      let y = 0;
      const size = (node) => { node.w = Math.min(230, Math.max(70, node.scope.label.length * 6.6 + 26)); node.h = node.scope.leaf >= 0 ? 26 : 34; };
      list.forEach(size);
      for (const row of layers) {
        if (!row) continue;
        // very wide layers are folded into several lines
        const lines = [];
        let line = [], width = 0;
        for (const i of row) { if (width + list[i].w > 2600 && line.length) { lines.push(line); line = []; width = 0; } line.push(i); width += list[i].w + 22; }
        lines.push(line);
        for (const part of lines) {
          const total = part.reduce((sum, i) => sum + list[i].w + 22, -22);
          let x = -total / 2;
          for (const i of part) { list[i].x = x + list[i].w / 2; list[i].y = y; x += list[i].w + 22; }
          y += 58;
        }
        y += 14;
      }
      nodes = list;
      edges = [...seen].map(([key, count]) => [Math.floor(key / 1e6), key % 1e6, count]);
    }

    const tint = (type) => { let hash = 0; for (const c of type) hash = (hash * 31 + c.charCodeAt(0)) | 0; return categorical(Math.abs(hash) % 8); };
    const stage = surface(box, (context, width, height) => {
      context.translate(width / 2 + camera.x, 40 + camera.y); context.scale(camera.k, camera.k);
      const left = (-width / 2 - camera.x) / camera.k, right = (width / 2 - camera.x) / camera.k, above = (-40 - camera.y) / camera.k, below = (height - 40 - camera.y) / camera.k;
      context.lineWidth = 1; context.strokeStyle = ink("--faint");
      const focus = chosen ? nodes.findIndex((n) => n.scope === chosen) : -1;
      for (const [a, b, count] of edges) {
        const from = nodes[a], to = nodes[b];
        if (Math.max(from.y, to.y) < above || Math.min(from.y, to.y) > below || Math.max(from.x, to.x) < left - 200 || Math.min(from.x, to.x) > right + 200) continue;
        const on = a === focus || b === focus, along = path && path.has(from.scope) && path.has(to.scope);
        context.globalAlpha = on || along ? 1 : focus >= 0 || path ? 0.18 : 0.55;
        context.strokeStyle = along ? ink("--warn") : on ? ink("--accent") : ink("--faint");
        context.lineWidth = Math.min(4, 0.8 + Math.log2(count) * 0.5) + (on || along ? 1 : 0);
        const y1 = from.y + from.h / 2, y2 = to.y - to.h / 2, bend = Math.max(18, Math.abs(y2 - y1) / 2);
        context.beginPath(); context.moveTo(from.x, y1); context.bezierCurveTo(from.x, y1 + bend, to.x, y2 - bend, to.x, y2); context.stroke();
        context.beginPath(); context.moveTo(to.x - 3.5, y2 - 6); context.lineTo(to.x, y2); context.lineTo(to.x + 3.5, y2 - 6); context.stroke();
      }
      context.globalAlpha = 1; context.textAlign = "center"; context.textBaseline = "middle";
      for (const node of nodes) {
        const { scope, x, y, w, h: tall } = node;
        if (x + w / 2 < left || x - w / 2 > right || y + tall < above || y - tall > below) continue;
        const leaf = scope.leaf >= 0, color = leaf || scope.bundle ? tint(scope.type) : ink("--soft");
        context.globalAlpha = focus >= 0 && scope !== chosen && !nodes[focus].in.has(nodes.indexOf(node)) && !nodes[focus].out.has(nodes.indexOf(node)) ? 0.5 : 1;
        context.beginPath(); context.roundRect(x - w / 2, y - tall / 2, w, tall, leaf ? 13 : 7);
        context.fillStyle = ink("--card"); context.fill();
        context.globalAlpha *= 0.2; context.fillStyle = color; context.fill(); context.globalAlpha /= 0.2;
        context.strokeStyle = scope === chosen ? ink("--accent") : marked.has(scope) ? ink("--warn") : color; context.lineWidth = scope === chosen || marked.has(scope) ? 2.5 : leaf ? 1 : 1.5; context.stroke();
        if (camera.k > 0.28) {
          context.fillStyle = ink("--ink"); context.font = `${leaf ? "" : "600 "}11.5px system-ui, 'Liberation Sans', sans-serif`;
          const room = Math.floor((w - 20) / 6.3), text = scope.label.length > room ? scope.label.slice(0, room - 1) + "…" : scope.label;
          context.fillText(text, x, leaf ? y : y - 6);
          if (!leaf) { context.fillStyle = ink("--soft"); context.font = "10px system-ui, 'Liberation Sans', sans-serif"; context.fillText(`${scope.count.toLocaleString("en")} nodes ▸`, x, y + 8); }
        }
        context.globalAlpha = 1;
      }
    });
    const canvas = stage.canvas;
    canvas.setAttribute("aria-label", "Graph. Double-click or Enter unfolds a scope, Backspace folds, arrows move, + and - zoom.");
    const fit = (first) => {
      if (!nodes.length) return;
      const x0 = Math.min(...nodes.map((n) => n.x - n.w / 2)), x1 = Math.max(...nodes.map((n) => n.x + n.w / 2)), y1 = Math.max(...nodes.map((n) => n.y));
      camera.k = Math.max(first ? 0.6 : 0.05, Math.min(1.2, (canvas.clientWidth - 40) / (x1 - x0), (canvas.clientHeight - 80) / (y1 + 30)));
      camera.x = -(x0 + x1) / 2 * camera.k; camera.y = 0;
      stage.redraw();
    };
    const refresh = (keep) => {
      const before = keep && nodes.find((n) => n.scope === keep || n.scope === chosen), at = before ? [before.x * camera.k + camera.x, before.y * camera.k + camera.y] : null;
      layout();
      const now = at && nodes.find((n) => n.scope === keep || (keep && n.scope.parent === keep));
      if (now) { camera.x = at[0] - now.x * camera.k; camera.y = at[1] - now.y * camera.k; }
      count.textContent = `${nodes.length.toLocaleString("en")} of ${graph.names.length.toLocaleString("en")} nodes in view`;
      stage.redraw();
    };
    const unfold = (scope) => { if (scope.leaf >= 0) return; open.add(scope); refresh(scope); };
    const fold = (scope) => { const outer = scope.parent; if (!outer || outer === top) return; for (const s of [...open]) { let up = s; while (up && up !== outer) up = up.parent; if (up === outer) open.delete(s); } chosen = outer; refresh(outer); facts(); };
    const reveal = (leaf) => { for (let s = leaf.parent; s; s = s.parent) open.add(s); marked.add(leaf); chosen = leaf; layout(); const node = nodes.find((n) => n.scope === leaf); camera.k = Math.max(camera.k, 0.8); camera.x = -node.x * camera.k; camera.y = canvas.clientHeight / 2 - 40 - node.y * camera.k; refresh(); facts(); };

    // What is chosen
    async function facts() {
      if (!chosen) { fill(about, h("h2", {}, "Nothing chosen"), h("p", { class: "count" }, "Click a node. Double-click a scope to unfold it, a node to look at its neighbours.")); return; }
      const scope = chosen, leaf = scope.leaf;
      const list = (title, found) => found.length ? [h("h3", { style: "margin-top:10px" }, `${title} (${found.length})`), h("div", {}, found.slice(0, 12).map((i) => h("div", {}, h("a", { href: "#", onclick: (e) => { e.preventDefault(); reveal(holder[i]); } }, graph.names[i].split("/").slice(-2).join("/")), " ", h("span", { class: "count" }, (graph.shapes[i] || []).map((s) => `[${s.join(", ")}]`).join(" ")))))] : null;
      const buttons = h("div", { class: "bar", style: "margin:8px 0" }, leaf < 0 ? h("button", { onclick: () => unfold(scope) }, "Unfold") : null, scope.parent && scope.parent !== top ? h("button", { onclick: () => fold(scope) }, "Fold " + scope.parent.name) : null,
        h("button", { onclick: () => { if (from) way(from, scope); else { from = scope; hint.textContent = "Now choose the end and press the button again."; } } }, from ? "Path to here" : "Path from here"));
      const hint = h("div", { class: "count" });
      fill(about, h("h2", { style: "overflow-wrap:anywhere" }, scope.label), h("div", { class: "count", style: "overflow-wrap:anywhere" }, scope.path), buttons, hint);
      if (leaf < 0) {
        const kinds = new Map(), walk = [scope];
        while (walk.length) for (const child of walk.pop().children.values()) if (child.leaf >= 0) kinds.set(child.type, (kinds.get(child.type) || 0) + 1); else walk.push(child);
        about.append(h("dl", { class: "facts" }, h("dt", {}, "nodes"), h("dd", {}, scope.count.toLocaleString("en")), [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 14).map(([type, n]) => [h("dt", {}, type), h("dd", {}, n)])));
        return;
      }
      const more = await get("board/graph/node", { train_id: run, tag: which, number: leaf });
      if (chosen !== scope) return;
      about.append(...[h("dl", { class: "facts" }, h("dt", {}, "type"), h("dd", {}, scope.type), h("dt", {}, "result"), h("dd", {}, `${more.type.replace(/DT_/g, "")} ${more.shapes.map((s) => `[${s.join(", ")}]`).join(" ")}`)),
        list("Inputs", graph.inputs[leaf] || []), list("Goes to", outputs[leaf]),
        more.stack.length ? [h("h3", { style: "margin-top:10px" }, "Source"), h("ol", { class: "stack" }, more.stack.map((line) => h("li", {}, `${line.file_path}:${line.line_no}`, h("span", { class: "code" }, line.code_line))))] : null,
        more.attributes.length ? [h("h3", { style: "margin-top:10px" }, "Attributes"), h("dl", { class: "facts" }, more.attributes.slice(0, 40).map(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, plainly(value))]))] : null].flat(2).filter(Boolean));
    }
    let from = null;
    function way(a, b) {
      const starts = leaves(a), goal = new Set(leaves(b)), before = new Map(starts.map((i) => [i, -1])), queue = [...starts];
      let end = -1;
      for (let k = 0; k < queue.length && end < 0; k++) for (const next of outputs[queue[k]]) if (!before.has(next)) { before.set(next, queue[k]); queue.push(next); if (goal.has(next)) { end = next; break; } }
      path = null; from = null;
      if (end >= 0) { path = new Set(); for (let i = end; i >= 0; i = before.get(i)) path.add(visible(holder[i])); }
      stage.redraw();
      about.append(h("p", {}, end >= 0 ? `The shortest path has ${[...path].length} nodes in view; it is marked.` : "There is no path in this direction."));
    }
    const leaves = (scope) => { if (scope.leaf >= 0) return [scope.leaf]; const out = [], walk = [scope]; while (walk.length) for (const child of walk.pop().children.values()) if (child.leaf >= 0) out.push(child.leaf); else walk.push(child); return out; };

    // Mouse and keys
    const under = (event) => { const r = canvas.getBoundingClientRect(), x = (event.clientX - r.left - r.width / 2 - camera.x) / camera.k, y = (event.clientY - r.top - 40 - camera.y) / camera.k; return nodes.find((n) => Math.abs(n.x - x) <= n.w / 2 && Math.abs(n.y - y) <= n.h / 2); };
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, y: e.clientY, cx: camera.x, cy: camera.y, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => { if (!drag) return; camera.x = drag.cx + e.clientX - drag.x; camera.y = drag.cy + e.clientY - drag.y; drag.moved ||= Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 4; stage.redraw(); });
    canvas.addEventListener("pointerup", (e) => { if (drag && !drag.moved) { const node = under(e); chosen = node ? node.scope : null; path = null; facts(); stage.redraw(); } drag = null; });
    canvas.addEventListener("dblclick", (e) => { const node = under(e); if (node) unfold(node.scope); });
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); const r = canvas.getBoundingClientRect(), k = Math.max(0.03, Math.min(3, camera.k * (e.deltaY < 0 ? 1.12 : 0.89))), px = e.clientX - r.left - r.width / 2, py = e.clientY - r.top - 40; camera.x = px - (px - camera.x) * k / camera.k; camera.y = py - (py - camera.y) * k / camera.k; camera.k = k; stage.redraw(); }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && chosen) unfold(chosen);
      else if (e.key === "Backspace" && chosen) fold(chosen);
      else if (e.key === "+" || e.key === "=") camera.k *= 1.2;
      else if (e.key === "-") camera.k /= 1.2;
      else if (e.key === "0") fit();
      else if (e.key.startsWith("Arrow")) { if (!chosen && nodes.length) chosen = nodes[0].scope; else { const here = nodes.find((n) => n.scope === chosen); if (here) { const dir = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[e.key]; let best = null, score = Infinity; for (const n of nodes) { const dx = n.x - here.x, dy = n.y - here.y, along = dx * dir[0] + dy * dir[1]; if (along > 1) { const s = along + 2 * Math.abs(dx * dir[1] + dy * dir[0]); if (s < score) { score = s; best = n; } } } if (best) { chosen = best.scope; camera.x = -best.x * camera.k; camera.y = canvas.clientHeight / 2 - 40 - best.y * camera.k; } } } facts(); }
      else return;
      e.preventDefault(); stage.redraw();
    });

    const count = h("span", { class: "count" }), results = h("div", { class: "card", hidden: true, style: "position:absolute;z-index:5;max-height:320px;overflow:auto;min-width:320px" });
    const find = h("input", { type: "search", id: "tag-filter", placeholder: "Find nodes (name or type)", "aria-label": "Find nodes", oninput: later(() => {
      const text = find.value.toLowerCase();
      results.hidden = !text;
      if (!text) return;
      const found = [];
      for (let i = 0; i < graph.names.length && found.length < 100; i++) if (graph.names[i].toLowerCase().includes(text) || graph.types[i].toLowerCase().includes(text)) found.push(i);
      fill(results, found.length ? found.map((i) => h("div", {}, h("a", { href: "#", onclick: (e) => { e.preventDefault(); results.hidden = true; reveal(holder[i]); } }, graph.names[i]))) : "nothing found");
    }, 120) });
    const check = h("input", { type: "checkbox", onchange: () => { constants = check.checked; refresh(); fit(); } });
    const choices = Array.from({ length: graph.graphs }, (_, i) => [String(i), `graph ${i}`]);
    root.append(h("div", { class: "bar" }, h("h1", {}, "Graph"), h("span", {}, find, results), count, h("span", { class: "spacer" }), graph.graphs > 1 ? picker(choices, which, (v) => { state.set("graph", v, true); root.replaceChildren(); this.show(root, run); }, "Graph") : null,
      h("label", {}, check, "parameters and constants"), h("button", { onclick: () => { for (const s of [...open]) if (s !== top) open.delete(s); refresh(); fit(); } }, "Fold all"), h("button", { onclick: () => fit() }, "Fit")), h("div", { class: "split" }, box, about));
    refresh(); facts();
    requestAnimationFrame(() => fit(true));
    box.graph = { nodes: () => nodes, unfold, holder, reveal };
    return {};
  },
};
