// Parameter distributions: how the values of a tag spread over time, as ridges or as a map.
import { get } from "../api.js";
import { ticks } from "../chart.js";
import { rgb, scaled } from "../colors.js";
import { counted, elided, fill, h, ink, nothing, patternField, regex, segments, short, surface } from "../dom.js";
import * as state from "../state.js";

function ridges(context, width, height, rows, mark) {
  const left = 12, right = 52, top = 46, bottom = 22, n = rows.length, w = width - left - right;
  const lows = rows[0].buckets[0][0], last = rows[0].buckets[rows[0].buckets.length - 1], highs = last[0] + last[1];
  const most = Math.max(1, ...rows.map((row) => Math.max(...row.buckets.map((b) => b[2])))), gap = (height - top - bottom) / Math.max(1, n - 1 || 1), tall = Math.min(90, Math.max(30, gap * 5));
  const x = (v) => left + (v - lows) / (highs - lows || 1) * w;
  context.font = "11px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--faint"); context.textAlign = "center"; context.textBaseline = "top";
  for (const v of ticks(lows, highs, 5)) context.fillText(short(v), Math.max(24, Math.min(width - right, x(v))), height - bottom + 6);
  context.textAlign = "left"; context.textBaseline = "middle";
  rows.forEach((row, i) => {
    const base = top + (n > 1 ? i * gap : (height - top - bottom)), share = n > 1 ? i / (n - 1) : 1;
    context.beginPath(); context.moveTo(x(row.buckets[0][0]), base);
    for (const [edge, wide, count] of row.buckets) context.lineTo(x(edge + wide / 2), base - count / most * tall);
    context.lineTo(x(highs), base); context.closePath();
    context.globalAlpha = 0.85; context.fillStyle = scaled(0.15 + 0.75 * share); context.fill(); context.globalAlpha = 1;
    context.strokeStyle = ink("--card"); context.lineWidth = 0.8; context.stroke();
    if (mark === i) { context.strokeStyle = ink("--accent"); context.lineWidth = 2; context.stroke(); }
    if (n <= 8 || i % Math.ceil(n / 8) === 0 || i === n - 1) { context.fillStyle = ink("--faint"); context.fillText(short(row.step), width - right + 6, base); }
  });
}

function map(context, width, height, rows) {
  const left = 48, right = 8, top = 6, bottom = 22, bins = rows[0].buckets.length;
  const image = context.createImageData(rows.length, bins);
  rows.forEach((row, i) => {
    const most = Math.max(1, ...row.buckets.map((b) => b[2]));
    row.buckets.forEach(([, , count], j) => { const [r, g, b] = rgb(Math.sqrt(count / most)), at = 4 * ((bins - 1 - j) * rows.length + i); image.data.set([r, g, b, 255], at); });
  });
  const small = new OffscreenCanvas(rows.length, bins);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, left, top, width - left - right, height - top - bottom);
  context.font = "11px system-ui, 'Liberation Sans', sans-serif"; context.fillStyle = ink("--faint"); context.textAlign = "right"; context.textBaseline = "middle";
  const last = rows[0].buckets[bins - 1], low = rows[0].buckets[0][0], high = last[0] + last[1];
  for (const v of ticks(low, high, 5)) context.fillText(short(v), left - 5, height - bottom - (height - top - bottom) * (v - low) / (high - low || 1));
  context.textAlign = "center"; context.textBaseline = "top";
  for (let i = 0; i <= 4; i++) { const row = rows[Math.round((rows.length - 1) * i / 4)]; context.fillText(short(row.step), left + (width - left - right) * (i + 0.0) / 4 * 0.96 + 8, height - bottom + 6); }
}

export default {
  side: "one", kind: ["histogram"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const { tags } = await get("board/things", { kind: "histogram", train_id: run }), names = Object.keys(tags);
    const grid = h("div", { class: "cards" }), filter = patternField("tag-filter", "tags", state.get("tag"), (text) => { state.set("tag", text, true); layout(); });
    const choice = h("span"), cards = new Map();
    const style = () => state.get("style", "ridges");
    const choose = () => fill(choice, segments([["ridges", "Ridges"], ["map", "Map"]], style(), (v) => { state.set("style", v, true); choose(); for (const card of cards.values()) card.stage.redraw(); }, "Style"));
    choose();
    root.append(h("div", { class: "bar" }, h("h1", {}, "Distributions"), filter, h("span", { class: "count" }, counted(names.length, "tag")), h("span", { class: "spacer" }), choice), grid);
    if (!names.length) { fill(grid, nothing("No distributions in this run", "SummaryCollector records weights by default (histogram_regular).")); return {}; }
    const watch = new IntersectionObserver((entries) => entries.forEach((entry) => { if (entry.isIntersecting) load(cards.get(entry.target.dataset.tag)); }), { rootMargin: "200px" });
    const load = async (card) => {
      if (card.loading) return;
      card.loading = true;
      const { histograms } = await get("datavisual/histograms", { train_id: run, tag: card.tag });
      card.rows = histograms.filter((row) => row.buckets.length);
      card.stage.redraw();
    };
    const layout = () => {
      const pattern = regex(filter.value);
      fill(grid, names.filter((tag) => !pattern || pattern.test(tag)).map((tag) => {
        if (!cards.has(tag)) {
          const card = { tag, rows: null, mark: -1 }, box = h("div", { class: "plot" }), about = h("span", { class: "count" });
          card.stage = surface(box, (context, width, height) => {
            if (!card.rows || !card.rows.length) return;
            const rows = card.rows.length > 60 ? Array.from({ length: 60 }, (_, i) => card.rows[Math.round(i * (card.rows.length - 1) / 59)]) : card.rows;
            card.shown = rows;
            (style() === "map" ? map : ridges)(context, width, height, rows, card.mark);
          });
          card.stage.canvas.addEventListener("mousemove", (event) => {
            if (!card.shown || style() === "map") return;
            const at = Math.round((event.offsetY - 46) / ((box.clientHeight - 68) / Math.max(1, card.shown.length - 1)));
            card.mark = Math.max(0, Math.min(card.shown.length - 1, at));
            const row = card.shown[card.mark];
            about.textContent = `step ${short(row.step)}, ${short(row.buckets.reduce((s, b) => s + b[2], 0))} values`;
            card.stage.redraw();
          });
          card.node = h("section", { class: "card" }, h("div", { class: "top" }, h("h3", {}, elided(tag)), about, h("button", { class: "quiet", title: "Wide", onclick: () => card.node.classList.toggle("wide") }, "⤢")), box);
          card.node.dataset.tag = tag;
          cards.set(tag, card);
          watch.observe(card.node);
        }
        return cards.get(tag).node;
      }));
    };
    layout();
    return { live: () => { for (const card of cards.values()) if (card.loading) { card.loading = false; load(card); } }, close: () => watch.disconnect() };
  },
};
