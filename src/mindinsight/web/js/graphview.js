// A graph on a canvas: scopes fold and unfold; only what is unfolded is laid out, so size does not matter.
import { categorical } from "./colors.js";
import { ink, surface } from "./dom.js";
import { firstCut, layout, tree, way } from "./layered.js";

const FONT = "system-ui, 'Liberation Sans', sans-serif";
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

function tint(type) {
  let hash = 0;
  for (const c of type) hash = (hash * 31 + c.charCodeAt(0)) | 0;
  return categorical(Math.abs(hash) % 8);
}

export class GraphView {
  // graph: { names, types, inputs }; chose(scope or null) is called when somebody picks a node, moved(nodes) after each layout.
  constructor(box, graph, { chose, moved }) {
    this.graph = graph; this.chose = chose; this.moved = moved;
    const { root, holder } = tree(graph);
    this.root = root; this.holder = holder;
    this.open = firstCut(root);
    this.outputs = graph.names.map(() => []);
    graph.inputs.forEach((list, i) => list.forEach((j) => this.outputs[j].push(i)));
    this.constants = false; this.chosen = null; this.path = null; this.marked = new Set(); this.current = null;
    this.nodes = []; this.edges = []; this.camera = { x: 0, y: 0, k: 1 };
    this.stage = surface(box, (context, width, height) => this.draw(context, width, height));
    this.canvas = this.stage.canvas;
    this.canvas.setAttribute("aria-label", "Graph. Double-click or Enter unfolds a scope, Backspace folds, arrows move, + and - zoom.");
    this.listen();
    this.refresh();
    requestAnimationFrame(() => this.fit(true));
  }

  visible(leaf) { let found = leaf; for (let s = leaf.parent; s; s = s.parent) if (!this.open.has(s)) found = s; return found; }
  hides(scope) { return !this.constants && (scope.type === "Const" || scope.type === "Parameter") && !this.marked.has(scope); }
  find(scope) { return this.nodes.find((n) => n.scope === scope); }

  refresh(keep) {
    const { camera } = this, before = keep && (this.find(keep) || this.find(this.chosen));
    const at = before ? [before.x * camera.k + camera.x, before.y * camera.k + camera.y] : null;
    Object.assign(this, layout(this.graph, this.holder, this.root, this.open, (scope) => this.hides(scope)));
    const now = at && this.nodes.find((n) => n.scope === keep || n.scope.parent === keep);
    if (now) { camera.x = at[0] - now.x * camera.k; camera.y = at[1] - now.y * camera.k; }
    this.moved(this.nodes);
    this.stage.redraw();
  }

  fit(first) {
    const { nodes, canvas, camera } = this;
    if (!nodes.length) return;
    let x0 = Infinity, x1 = -Infinity, y1 = 0;
    for (const n of nodes) { x0 = Math.min(x0, n.x - n.w / 2); x1 = Math.max(x1, n.x + n.w / 2); y1 = Math.max(y1, n.y); }
    camera.k = Math.max(first ? 0.4 : 0.05, Math.min(1.2, (canvas.clientWidth - 40) / (x1 - x0), (canvas.clientHeight - 80) / (y1 + 30)));
    camera.x = -(x0 + x1) / 2 * camera.k; camera.y = 0;
    this.stage.redraw();
  }

  unfold(scope) { if (scope.leaf < 0) { this.open.add(scope); this.refresh(scope); } }

  fold(scope) {
    const outer = scope.parent;
    if (!outer || outer === this.root) return;
    for (const s of [...this.open]) { let up = s; while (up && up !== outer) up = up.parent; if (up === outer) this.open.delete(s); }
    this.refresh(outer);
    this.choose(outer);
  }

  foldAll() { this.open = new Set([this.root]); this.refresh(); this.fit(); }

  choose(scope) { this.chosen = scope; this.path = null; this.stage.redraw(); this.chose(scope); }

  look(scope) {
    const node = this.find(scope), { camera } = this;
    camera.k = Math.max(camera.k, 0.8);
    camera.x = -node.x * camera.k; camera.y = this.canvas.clientHeight / 2 - 40 - node.y * camera.k;
    this.stage.redraw();
  }

  // Mark the shortest path between two nodes or scopes; false where there is none in this direction.
  join(from, to) {
    const found = way(from, to, this.outputs);
    this.path = found && new Set(found.map((i) => this.visible(this.holder[i])));
    this.stage.redraw();
    return Boolean(found);
  }

  // Unfold whatever hides a node, and choose it.
  reveal(leaf) { this.show([leaf]); this.choose(leaf); }

  // Unfold whatever hides some nodes, mark them, and look at the first.
  show(found) {
    for (const leaf of found) { for (let s = leaf.parent; s; s = s.parent) this.open.add(s); }
    this.marked = new Set(found);
    this.refresh();
    if (found.length) this.look(found[0]);
  }

  draw(context, width, height) {
    const { nodes, edges, camera, chosen, path } = this;
    context.translate(width / 2 + camera.x, 40 + camera.y); context.scale(camera.k, camera.k);
    const left = (-width / 2 - camera.x) / camera.k, right = (width / 2 - camera.x) / camera.k, above = (-40 - camera.y) / camera.k, below = (height - 40 - camera.y) / camera.k;
    const inks = Object.fromEntries(["faint", "warn", "accent", "soft", "card", "ink", "bad"].map((name) => [name, ink("--" + name)]));
    const focus = chosen ? nodes.findIndex((n) => n.scope === chosen) : -1;
    for (const [a, b, count] of edges) {
      const from = nodes[a], to = nodes[b];
      if (Math.max(from.y, to.y) < above || Math.min(from.y, to.y) > below || Math.max(from.x, to.x) < left - 200 || Math.min(from.x, to.x) > right + 200) continue;
      const on = a === focus || b === focus, along = path && path.has(from.scope) && path.has(to.scope);
      context.globalAlpha = on || along ? 1 : focus >= 0 || path ? 0.18 : 0.55;
      context.strokeStyle = along ? inks.warn : on ? inks.accent : inks.faint;
      context.lineWidth = Math.min(4, 0.8 + Math.log2(count) * 0.5) + (on || along ? 1 : 0);
      const y1 = from.y + from.h / 2, y2 = to.y - to.h / 2, bend = Math.max(18, Math.abs(y2 - y1) / 2);
      context.beginPath(); context.moveTo(from.x, y1); context.bezierCurveTo(from.x, y1 + bend, to.x, y2 - bend, to.x, y2); context.stroke();
      context.beginPath(); context.moveTo(to.x - 3.5, y2 - 6); context.lineTo(to.x, y2); context.lineTo(to.x + 3.5, y2 - 6); context.stroke();
    }
    context.globalAlpha = 1; context.textAlign = "center"; context.textBaseline = "middle";
    nodes.forEach((node, i) => {
      if (node.x + node.w / 2 < left || node.x - node.w / 2 > right || node.y + node.h < above || node.y - node.h > below) return;
      const near = focus < 0 || i === focus || nodes[focus].in.has(i) || nodes[focus].out.has(i);
      this.drawNode(context, node, near ? 1 : 0.5, inks);
    });
    context.globalAlpha = 1;
  }

  drawNode(context, { scope, x, y, w, h: tall }, alpha, inks) {
    const leaf = scope.leaf >= 0, color = leaf || scope.bundle ? tint(scope.type) : inks.soft;
    const here = this.current && (scope === this.current || this.visible(this.current) === scope), special = scope === this.chosen || this.marked.has(scope) || here;
    context.globalAlpha = alpha;
    context.beginPath(); context.roundRect(x - w / 2, y - tall / 2, w, tall, leaf ? 13 : 7);
    context.fillStyle = inks.card; context.fill();
    context.globalAlpha = alpha * 0.2; context.fillStyle = here ? inks.bad : color; context.fill(); context.globalAlpha = alpha;
    context.strokeStyle = scope === this.chosen ? inks.accent : here ? inks.bad : this.marked.has(scope) ? inks.warn : color;
    context.lineWidth = special ? 2.5 : leaf ? 1 : 1.5; context.stroke();
    if (this.camera.k <= 0.28) return;
    context.fillStyle = inks.ink; context.font = `${leaf ? "" : "600 "}11.5px ${FONT}`;
    const room = Math.floor((w - 20) / (leaf ? 6.3 : 7.2)), text = scope.label.length > room ? scope.label.slice(0, room - 1) + "…" : scope.label;
    context.fillText((here ? "▶ " : "") + text, x, leaf ? y : y - 6);
    if (!leaf) { context.fillStyle = inks.soft; context.font = `10px ${FONT}`; context.fillText(`${scope.count.toLocaleString("en")} nodes ▸`, x, y + 8); }
  }

  listen() {
    const { canvas, camera, stage } = this;
    const under = (event) => {
      const r = canvas.getBoundingClientRect(), x = (event.clientX - r.left - r.width / 2 - camera.x) / camera.k, y = (event.clientY - r.top - 40 - camera.y) / camera.k;
      return this.nodes.find((n) => Math.abs(n.x - x) <= n.w / 2 && Math.abs(n.y - y) <= n.h / 2);
    };
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, y: e.clientY, cx: camera.x, cy: camera.y, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return;
      camera.x = drag.cx + e.clientX - drag.x; camera.y = drag.cy + e.clientY - drag.y;
      drag.moved ||= Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 4;
      stage.redraw();
    });
    canvas.addEventListener("pointerup", (e) => { if (drag && !drag.moved) { const node = under(e); this.choose(node ? node.scope : null); } drag = null; });
    canvas.addEventListener("dblclick", (e) => { const node = under(e); if (node) this.unfold(node.scope); });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const r = canvas.getBoundingClientRect(), k = Math.max(0.03, Math.min(3, camera.k * (e.deltaY < 0 ? 1.12 : 0.89))), px = e.clientX - r.left - r.width / 2, py = e.clientY - r.top - 40;
      camera.x = px - (px - camera.x) * k / camera.k; camera.y = py - (py - camera.y) * k / camera.k; camera.k = k;
      stage.redraw();
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => { if (this.key(e.key)) { e.preventDefault(); stage.redraw(); } });
  }

  key(key) {
    if (key === "Enter" && this.chosen) this.unfold(this.chosen);
    else if (key === "Backspace" && this.chosen) this.fold(this.chosen);
    else if (key === "+" || key === "=") this.camera.k *= 1.2;
    else if (key === "-") this.camera.k /= 1.2;
    else if (key === "0") this.fit();
    else if (key in ARROWS) this.step(ARROWS[key]);
    else return false;
    return true;
  }

  // Choose the nearest node in a direction.
  step([right, down]) {
    const here = this.chosen && this.find(this.chosen);
    if (!here) { if (this.nodes.length) this.choose(this.nodes[0].scope); return; }
    let best = null, score = Infinity;
    for (const n of this.nodes) {
      const dx = n.x - here.x, dy = n.y - here.y, along = dx * right + dy * down, cost = along + 2 * Math.abs(dx * down + dy * right);
      if (along > 1 && cost < score) { score = cost; best = n; }
    }
    if (best) { this.look(best.scope); this.choose(best.scope); }
  }
}
