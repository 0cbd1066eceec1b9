// The list of runs: everything known about each, sortable; notes and labels can be written here.
import { post } from "../api.js";
import { clock, elided, fill, h, nothing, patternField, seconds, short } from "../dom.js";
import * as runs from "../runs.js";
import * as state from "../state.js";

const HEIGHT = 36;

export default {
  async show(root) {
    let order = state.get("by", "updated"), down = state.get("down", "1") === "1";
    const table = h("table", { class: "grid" }), count = h("span", { class: "count" }), scroll = h("div", { class: "scroll", style: "max-height:calc(100vh - 150px)" }, table);
    const search = patternField("tag-filter", "runs", state.get("runs"), (text) => { state.set("runs", text, true); draw(); });
    root.append(h("div", { class: "bar" }, h("h1", {}, "Runs"), search, count, h("span", { class: "spacer" }), h("button", { onclick: () => csv() }, "Table as CSV")), scroll);
    const fixed = [["name", "Run"], ["updated", "Updated"], ["seconds", "Time"], ["step", "Last step"], ["tags", "Tags"], ["labels", "Labels"], ["note", "Note"]];
    // hyper-parameters may be called like columns of ours: theirs have a mark
    const pick = (run, key) => key.startsWith("=") ? runs.value(run, key.slice(1)) : run[key];
    const shown = () => {
      const found = runs.listed();
      found.sort((a, b) => (down ? -1 : 1) * runs.compare(pick(a, order), pick(b, order)));
      return found;
    };
    // what differs between runs comes first
    const columns = () => {
      const many = (name) => new Set(runs.runs().map((run) => String(runs.value(run, name)))).size > 1, names = runs.parameters().slice(0, 40), differ = names.filter(many);
      return [...fixed, ...[...differ, ...names.filter((name) => !differ.includes(name))].map((name) => ["=" + name, name.replace("metric/", "")])];
    };
    const cell = (run, key) => {
      if (key === "name") return h("td", {}, h("i", { class: "dot", style: `display:inline-block;margin-right:8px;background:${runs.color(run.id)}` }), h("a", { href: state.link("scalars"), onclick: () => { state.set("runs", "^" + runs.label(run).replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$", true); } }, elided(runs.label(run))), run.damage ? h("span", { class: "mark", title: run.damage }, " ⚠") : null);
      if (key === "updated") return h("td", {}, clock(run.updated));
      if (key === "seconds") return h("td", { class: "num" }, seconds(run.seconds));
      if (key === "note" || key === "labels") return h("td", {}, edit(run, key));
      const found = pick(run, key);
      return h("td", { class: typeof found === "number" ? "num" : "" }, found === undefined ? "" : short(found));
    };
    const edit = (run, key) => {
      const input = h("input", { type: "text", value: run[key], placeholder: key === "note" ? "write a note" : "label", style: "border-color:transparent;background:none;padding:2px 4px;width:" + (key === "note" ? "160px" : "90px"), "aria-label": `${key} of ${run.name}`,
        onchange: async () => { run[key] = input.value; await post("board/note", { run: run.name, note: run.note, labels: run.labels }); } });
      return input;
    };
    const draw = () => {
      const found = shown(), first = Math.max(0, Math.floor(scroll.scrollTop / HEIGHT) - 5), last = Math.min(found.length, first + 60), heads = columns();
      count.textContent = `${found.length} of ${runs.runs().length}`;
      fill(table, h("thead", {}, h("tr", {}, heads.map(([key, text]) => h("th", { class: typeof (found[0] && pick(found[0], key)) === "number" && key !== "updated" ? "num" : "", "aria-sort": key === order ? (down ? "descending" : "ascending") : "none", tabIndex: 0,
        onclick: () => sort(key), onkeydown: (e) => { if (e.key === "Enter") sort(key); } }, text, key === order ? (down ? " ↓" : " ↑") : "")))),
        h("tbody", {}, h("tr", { style: `height:${first * HEIGHT}px` }), found.slice(first, last).map((run) => h("tr", { style: `height:${HEIGHT}px` }, heads.map(([key]) => cell(run, key)))), h("tr", { style: `height:${(found.length - last) * HEIGHT}px` })));
      if (!runs.runs().length) fill(scroll, nothing("No runs yet", "Runs appear here as soon as an event file is written below the folder above."));
      else if (!table.isConnected) fill(scroll, table);
    };
    const sort = (key) => { if (order === key) down = !down; else { order = key; down = key === "updated"; } state.set("by", order, true); state.set("down", down ? "" : "0", true); draw(); };
    const csv = () => {
      const heads = columns(), quote = (v) => { const t = v === undefined || v === null ? "" : String(v); return /[",\n]/.test(t) ? '"' + t.replace(/"/g, '""') + '"' : /^[=+@-]/.test(t) && Number.isNaN(+t) ? "'" + t : t; };
      const text = [heads.map(([, t]) => quote(t)).join(","), ...shown().map((run) => heads.map(([key]) => quote(pick(run, key))).join(","))].join("\n");
      const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "runs.csv" });
      link.click();
    };
    scroll.addEventListener("scroll", () => requestAnimationFrame(draw));
    draw();
    return { live: () => { if (!table.contains(document.activeElement) || document.activeElement.tagName !== "INPUT") draw(); } };
  },
};
