// Scalars: a card for each tag, grouped by the first part of the name; pinned cards come first.
import { address, get, points } from "../api.js";
import { Chart } from "../chart.js";
import { categorical } from "../colors.js";
import { counted, elided, fill, h, later, nothing, patternField, regex, segments } from "../dom.js";
import * as runs from "../runs.js";
import * as state from "../state.js";

const MOST_LINES = 2000;

class Card {
  constructor(tag, page) {
    this.tag = tag; this.page = page; this.data = new Map(); this.fetched = false; this.visible = false; this.window = null; this.detail = null;
    const box = h("div", { class: "plot" });
    const button = (text, title, act) => h("button", { class: "quiet", title, "aria-label": `${title}: ${tag}`, onclick: act }, text);
    this.pin = button("☆", "Pin", () => page.pin(tag));
    this.node = h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, elided(tag)), this.pin,
      button("⤢", "Wide", () => { this.node.classList.toggle("wide"); }), button("csv", "All points as CSV", () => this.csv()),
      button("png", "Picture", () => this.chart.png()), button("svg", "Drawing", () => this.chart.svg())), box);
    this.chart = new Chart(box, { title: tag, waiting: "loading …", ...page.options(), detail: later((view) => this.zoom(view), 120) });
    this.node.chart = this.chart;
  }

  csv() {
    const ids = runs.shown().map((run) => run.id).join(",");
    h("a", { href: address("board/csv", { tag: this.tag, runs: ids }), download: "scalars.csv" }).click();
  }

  pinned(on) { this.pin.textContent = on ? "★" : "☆"; this.pin.setAttribute("aria-pressed", String(on)); }

  // Ask for what is missing: runs that are new here, and runs that changed.
  async update(changed) {
    if (!this.visible && !this.node.hidden) { this.stale = true; return; }
    this.stale = false;
    const wanted = runs.shown().slice(0, MOST_LINES), most = wanted.length > 300 ? 400 : wanted.length > 60 ? 800 : 2000;
    const missing = wanted.filter((run) => !this.data.has(run.id) || (changed && changed.has(run.id))).map((run) => run.id);
    try {
      await this.fetch(missing, most);
      this.chart.options.waiting = "no points in the runs shown";
      this.fetched = true;
    } catch (error) {
      this.chart.options.waiting = `not loaded: ${error.message}`;
      this.stale = true;
    }
    this.show();
  }

  async fetch(missing, most) {
    const turn = missing.length ? this.turn = (this.turn || 0) + 1 : 0;
    for (let first = 0; first < missing.length; first += 100) {
      const part = missing.slice(first, first + 100), found = await points(this.tag, part, most);
      for (const id of part) this.data.set(id, found.get(id) || null);
      if (turn === this.turn) this.show();
    }
  }

  zoom(view) {
    this.window = view;
    if (!view || this.chart.options.axis !== "step") { this.detail = null; this.show(); return; }
    const ids = runs.shown().filter((run) => this.data.get(run.id)).map((run) => run.id);
    points(this.tag, ids, ids.length > 60 ? 800 : 2000, [Math.floor(view.x0), Math.ceil(view.x1)]).then((found) => {
      if (this.window === view) { this.detail = found; this.show(); }
    });
  }

  show() {
    const source = this.detail || this.data, lines = [];
    for (const run of runs.shown().slice(0, MOST_LINES)) {
      const found = source.get(run.id);
      if (found) lines.push({ ...found, id: run.id, name: runs.brief(run), color: runs.color(run.id) });
    }
    if (state.get("group")) this.grouped(lines); else this.chart.set(lines);
    this.node.hidden = !lines.length && this.fetched; // none of the runs shown has this tag
  }

  // The mean of each group as a line, its range as a band, on a common grid.
  grouped(lines) {
    const groups = new Map(), bands = [], means = [];
    for (const line of lines) { const key = runs.groupOf(runs.run(line.id)); if (!groups.has(key)) groups.set(key, []); groups.get(key).push(line); }
    [...groups.keys()].sort().forEach((key) => {
      const members = groups.get(key), first = Math.min(...members.map((m) => m.steps[0])), last = Math.max(...members.map((m) => m.steps[m.steps.length - 1]));
      const count = Math.min(400, Math.max(...members.map((m) => m.steps.length))), color = members[0].color;
      const xs = Float64Array.from({ length: count }, (_, i) => first + (last - first) * (count > 1 ? i / (count - 1) : 0));
      const low = new Float32Array(count).fill(Infinity), high = new Float32Array(count).fill(-Infinity), sum = new Float64Array(count), number = new Int32Array(count), time = new Float32Array(count);
      for (const m of members) {
        let j = 0;
        for (let i = 0; i < count; i++) {
          const x = xs[i];
          if (x > m.steps[m.steps.length - 1] || x < m.steps[0]) continue;
          while (j + 1 < m.steps.length && m.steps[j + 1] < x) j++;
          const k = Math.min(j + 1, m.steps.length - 1), span = m.steps[k] - m.steps[j], t = span > 0 ? (x - m.steps[j]) / span : 0;
          const y = m.values[j] * (1 - t) + m.values[k] * t;
          if (!(y - y === 0)) continue;
          sum[i] += y; number[i]++; time[i] = m.seconds[j];
          if (y < low[i]) low[i] = y;
          if (y > high[i]) high[i] = y;
        }
      }
      const keep = [];
      for (let i = 0; i < count; i++) if (number[i]) keep.push(i);
      const pick = (a, kind) => kind.from(keep, (i) => a[i]);
      const line = { id: "group " + key, name: `${state.get("group")} = ${key} (${members.length} run${members.length > 1 ? "s" : ""})`, color, steps: pick(xs, Float64Array), seconds: pick(time, Float32Array), values: Float32Array.from(keep, (i) => sum[i] / number[i]), begin: members[0].begin };
      means.push(line);
      bands.push({ xs: line.steps, low: pick(low, Float32Array), high: pick(high, Float32Array), color });
    });
    this.chart.set(means, this.chart.options.axis === "step" ? bands : []);
  }
}

export default {
  side: true,
  async show(root) {
    const cards = new Map(), sections = new Map();
    let tags = (await get("board/tags")).tags;
    const body = h("div"), count = h("span", { class: "count" });
    const page = {
      options: () => ({ axis: state.get("x", "step"), smooth: state.number("smooth", 0.6), logX: state.flag("logx"), logY: state.flag("logy") }),
      pin(tag) { const pins = state.list("pin"); state.set("pin", pins.includes(tag) ? pins.filter((p) => p !== tag) : [...pins, tag], true); layout(); },
    };
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const card = cards.get(entry.target.dataset.tag);
        if (!card) continue;
        card.visible = entry.isIntersecting;
        if (card.visible && (card.stale !== false)) card.update(new Set());
      }
    }, { rootMargin: "300px" });
    const card = (tag) => {
      if (!cards.has(tag)) { const one = new Card(tag, page); one.node.dataset.tag = tag; cards.set(tag, one); watch.observe(one.node); }
      return cards.get(tag);
    };
    const section = (name, members) => {
      if (!sections.has(name)) {
        const grid = h("div", { class: "cards" }), head = h("div", { class: "group" }), node = h("div", { class: "section" }, head, grid);
        sections.set(name, { node, head, grid });
      }
      const { node, head, grid } = sections.get(name), closed = state.list("closed").includes(name);
      const flip = () => { const now = state.list("closed"); state.set("closed", closed ? now.filter((n) => n !== name) : [...now, name], true); layout(); };
      fill(head, h("button", { class: "quiet", "aria-expanded": String(!closed), onclick: flip, "aria-label": `Show or hide ${name}` }, closed ? "▸" : "▾"), h("h2", { onclick: flip }, name), h("span", { class: "count" }, members.length));
      grid.replaceChildren(...(closed ? [] : members.map((tag) => card(tag).node)));
      grid.hidden = closed;
      return node;
    };
    const layout = () => {
      const pattern = regex(state.get("tag")), pins = state.list("pin");
      const found = tags.filter(({ tag }) => !pattern || pattern.test(tag));
      const groups = new Map();
      for (const { tag } of found) {
        const cut = tag.indexOf("/"), name = cut > 0 ? tag.slice(0, cut) : "scalars";
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(tag);
      }
      const parts = [];
      const held = pins.filter((tag) => tags.some((t) => t.tag === tag));
      if (held.length) parts.push(section("★ Pinned", held));
      for (const [name, members] of groups) { const rest = members.filter((tag) => !held.includes(tag)); if (rest.length) parts.push(section(name, rest)); }
      for (const [tag, one] of cards) one.pinned(pins.includes(tag));
      count.textContent = found.length === tags.length ? counted(tags.length, "tag") : `${found.length} of ${tags.length} tags`;
      body.replaceChildren(...parts);
      if (!tags.length) body.replaceChildren(nothing("No scalars yet", "Record some with ", h("code", {}, "SummaryCollector"), " or any TensorBoard writer below the folder shown above; they appear here by themselves."));
    };
    const change = (options) => { for (const one of cards.values()) one.chart.change(options); };
    const value = h("span", { class: "mono" }, state.number("smooth", 0.6).toFixed(2));
    const slider = h("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: state.number("smooth", 0.6), "aria-label": "Smoothing",
      oninput: () => { value.textContent = (+slider.value).toFixed(2); state.set("smooth", slider.value === "0.6" ? "" : slider.value, true); change({ smooth: +slider.value }); } });
    const filter = patternField("tag-filter", "tags", state.get("tag"), (text) => { state.set("tag", text, true); layout(); });
    const box = (name, text, act) => { const input = h("input", { type: "checkbox", checked: state.flag(name), onchange: () => { state.set(name, input.checked, true); act(input.checked); } }); return h("label", {}, input, text); };
    const axis = h("span");
    const axes = () => fill(axis, segments([["step", "Step"], ["relative", "Relative"], ["wall", "Wall"]], state.get("x", "step"), (v) => { state.set("x", v === "step" ? "" : v, true); axes(); change({ axis: v }); for (const one of cards.values()) { one.detail = null; one.show(); } }, "Horizontal axis"));
    axes();
    const big = h("input", { type: "range", min: 280, max: 900, step: 20, value: state.number("size", 380), "aria-label": "Size of cards", oninput: () => { state.set("size", big.value, true); body.style.setProperty("--card-width", big.value + "px"); } });
    body.style.setProperty("--card-width", state.number("size", 380) + "px");
    root.append(h("div", { class: "bar" }, h("h1", {}, "Scalars"), filter, count, h("span", { class: "spacer" }), axis,
      h("label", {}, "Smooth", slider, value), box("logy", "log y", (on) => change({ logY: on })), box("logx", "log x", (on) => change({ logX: on })), h("label", {}, "Size", big)), body);
    layout();
    const stop = runs.changed(() => { for (const one of cards.values()) { one.detail = null; one.update(new Set()); } });
    return {
      async live(ids) {
        const before = tags.length;
        tags = (await get("board/tags")).tags;
        if (tags.length !== before) layout();
        for (const one of cards.values()) one.update(ids);
      },
      close() { stop(); watch.disconnect(); for (const one of cards.values()) one.chart.close(); },
    };
  },
};
