// A graph whose names are paths: the tree of its scopes, and where the members of a cut through that tree are drawn.
//
// In view is a cut through the tree of scopes. An edge between two nodes is drawn between the two members of the cut that
// hold them. A layer is the longest way from the inputs; within a layer, nodes are ordered by the mean place of their
// neighbours, a few sweeps down and up (Sugiyama's method).
const MANY = 60; // members of a scope that are shown one by one
const FEW = 26; // nodes in view at first
const LONELY = 3, MOST = 120; // so few nodes say nothing: then a scope of up to so many is unfolded
const WIDEST = 2600; // of a line of nodes, in pixels

export class Scope {
  constructor(name, path, parent) {
    this.name = name; this.path = path; this.parent = parent;
    this.children = new Map(); this.leaf = -1; this.count = 0; this.type = ""; this.bundle = false;
  }
  get label() { return this.name; }
}

export function tree(graph) {
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
  bundle(root);
  return { root, holder };
}

// Scopes with very many members of one type show them as one, which can be unfolded like a scope.
function bundle(scope) {
  for (const child of [...scope.children.values()]) if (child.leaf < 0) bundle(child);
  if (scope.children.size <= MANY) return;
  const kinds = new Map();
  for (const [key, child] of scope.children) {
    if (child.leaf < 0) continue;
    if (!kinds.has(child.type)) kinds.set(child.type, []);
    kinds.get(child.type).push([key, child]);
  }
  for (const [type, members] of kinds) {
    if (members.length < 5) continue;
    const group = new Scope(`${type} × ${members.length}`, (scope.path ? scope.path + "/" : "") + `[${type}]`, scope);
    group.type = type; group.bundle = true;
    for (const [key, child] of members) { scope.children.delete(key); child.parent = group; group.children.set(key, child); group.count++; }
    scope.children.set("\u0001" + type, group);
  }
}

const plain = (scope) => scope.type !== "Const" && scope.type !== "Parameter";

// The scopes that are unfolded at first: the smallest ones, while what is in view stays small.
export function firstCut(root) {
  const open = new Set([root]), front = new Set(root.children.values());
  for (let shown = [...front].filter(plain).length;;) {
    const next = [...front].filter((s) => s.leaf < 0 && !s.bundle).sort((x, y) => x.children.size - y.children.size)[0];
    const more = next ? [...next.children.values()].filter(plain).length : 0;
    const fits = shown - 1 + more <= FEW || (shown <= LONELY && more <= MOST);
    if (!next || !fits) return open;
    shown += more - 1;
    front.delete(next); open.add(next);
    for (const child of next.children.values()) front.add(child);
  }
}

// Nodes ({ scope, in, out, x, y, w, h }) and edges ([from, to, how many]) of a cut.
export function layout(graph, holder, root, open, hidden) {
  const nodes = [], index = new Map(), stack = [root], place = new Int32Array(graph.names.length).fill(-1);
  while (stack.length) {
    const scope = stack.pop();
    for (const child of [...scope.children.values()].reverse()) {
      if (open.has(child)) stack.push(child);
      else if (!hidden(child)) { index.set(child, nodes.length); nodes.push({ scope: child, in: new Set(), out: new Set(), layer: 0 }); }
    }
  }
  for (const [scope, number] of index) for (const leaf of leaves(scope)) place[leaf] = number;
  const seen = new Map();
  graph.inputs.forEach((from, i) => {
    const a = place[i];
    if (a < 0) return;
    for (const j of from) {
      const b = place[j];
      if (b < 0 || a === b) continue;
      nodes[a].in.add(b); nodes[b].out.add(a);
      const key = b * nodes.length + a;
      seen.set(key, (seen.get(key) || 0) + 1);
    }
  });
  const layers = layersOf(nodes);
  order(nodes, layers);
  put(nodes, layers);
  return { nodes, edges: [...seen].map(([key, count]) => [Math.floor(key / nodes.length), key % nodes.length, count]) };
}

export function leaves(scope) {
  if (scope.leaf >= 0) return [scope.leaf];
  const out = [], walk = [scope];
  while (walk.length) for (const child of walk.pop().children.values()) if (child.leaf >= 0) out.push(child.leaf); else walk.push(child);
  return out;
}

// Layers by the longest way; edges that close a cycle between folded scopes do not count.
function layersOf(nodes) {
  const mark = new Int8Array(nodes.length), layers = [];
  for (let start = 0; start < nodes.length; start++) {
    if (mark[start]) continue;
    const work = [[start, [...nodes[start].in], 0]];
    mark[start] = 1;
    while (work.length) {
      const frame = work[work.length - 1], [node, from] = frame;
      if (frame[2] < from.length) {
        const next = from[frame[2]++];
        if (!mark[next]) { mark[next] = 1; work.push([next, [...nodes[next].in], 0]); }
        continue;
      }
      let deep = 0;
      for (const j of from) if (mark[j] === 2) deep = Math.max(deep, nodes[j].layer + 1);
      nodes[node].layer = deep; mark[node] = 2; work.pop();
    }
  }
  nodes.forEach((node, i) => (layers[node.layer] ||= []).push(i));
  return layers.filter(Boolean);
}

function order(nodes, layers) {
  const place = new Float64Array(nodes.length);
  for (const row of layers) row.forEach((i, k) => { place[i] = k - row.length / 2; });
  for (let sweep = 0; sweep < 6; sweep++) {
    const side = sweep % 2 ? "out" : "in";
    for (const row of sweep % 2 ? [...layers].reverse() : layers) {
      const wish = new Map(row.map((i) => { const from = nodes[i][side]; let sum = 0; for (const j of from) sum += place[j]; return [i, from.size ? sum / from.size : place[i]]; }));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      row.forEach((i, k) => { place[i] = k - (row.length - 1) / 2; });
    }
  }
}

function put(nodes, layers) {
  let y = 0;
  for (const node of nodes) { node.w = Math.min(260, Math.max(70, node.scope.label.length * (node.scope.leaf >= 0 ? 6.6 : 7.4) + 26)); node.h = node.scope.leaf >= 0 ? 26 : 34; }
  for (const row of layers) {
    const lines = []; // very wide layers are folded into several lines
    let line = [], width = 0;
    for (const i of row) { if (width + nodes[i].w > WIDEST && line.length) { lines.push(line); line = []; width = 0; } line.push(i); width += nodes[i].w + 22; }
    lines.push(line);
    for (const part of lines) {
      const total = part.reduce((sum, i) => sum + nodes[i].w + 22, -22);
      let x = -total / 2;
      for (const i of part) { nodes[i].x = x + nodes[i].w / 2; nodes[i].y = y; x += nodes[i].w + 22; }
      y += 58;
    }
    y += 14;
  }
}

// The shortest way along the edges from one member of the tree to another: numbers of nodes, or null.
export function way(from, to, outputs) {
  const starts = leaves(from), goal = new Set(leaves(to)), before = new Map(starts.map((i) => [i, -1])), queue = [...starts];
  for (let k = 0; k < queue.length; k++) {
    for (const next of outputs[queue[k]]) {
      if (before.has(next)) continue;
      before.set(next, queue[k]);
      if (goal.has(next)) { const found = []; for (let i = next; i >= 0; i = before.get(i)) found.push(i); return found; }
      queue.push(next);
    }
  }
  return null;
}
