// The runs: which there are, which are shown, in which colours; and the list of them at the side.
import { get as ask } from "./api.js";
import { categorical, gradient, hue } from "./colors.js";
import { counted, elided, fill, h, patternField, picker, regex, short } from "./dom.js";
import * as state from "./state.js";

const HEIGHT = 28;
let all = [];
const byId = new Map(), listeners = new Set();
let hidden = new Set(), colors = new Map(), columns = [];

export function runs() { return all; }
export function run(id) { return byId.get(id); }
export function parameters() { return columns; }
export function changed(listener) { listeners.add(listener); return () => listeners.delete(listener); }
function tell() { for (const listener of listeners) listener(); }

// What all names begin with tells nothing: it is left out where space is short.
let common = 0;
function shared() {
  if (all.length < 2) return 0;
  const [first, ...others] = all.map(label);
  let same = first.length;
  for (const name of others) { let i = 0; while (i < same && name[i] === first[i]) i++; same = i; }
  const cut = first.slice(0, same).search(/[/_\s-][^/_\s-]*$/) + 1;
  return cut >= 6 ? cut : 0;
}
export function brief(run) { return common ? "…" + label(run).slice(common) : label(run); }

export function label(run) { return run.name === "./" ? "(base folder)" : run.name.replace(/^\.\//, ""); }
export function value(run, column) {
  if (column.startsWith("metric/")) return (run.metric || {})[column.slice(7)];
  return (run.config || {})[column];
}

export async function load() {
  all = (await ask("board/runs")).runs;
  byId.clear();
  const names = new Set();
  for (const run of all) {
    byId.set(run.id, run);
    for (const name of Object.keys(run.config || {})) names.add(name);
    for (const name of Object.keys(run.metric || {})) names.add("metric/" + name);
  }
  columns = [...names].sort();
  common = shared();
  hidden = new Set(state.list("off"));
  paint();
  tell();
}

// Runs that pass the filter at the side.
export function listed() {
  const pattern = regex(state.get("runs"));
  const found = pattern ? all.filter((run) => pattern.test(label(run)) || pattern.test(run.labels) || pattern.test(run.note)) : all.slice();
  const order = state.get("sort", "name");
  if (order === "updated") found.sort((a, b) => b.updated - a.updated);
  else if (order !== "name") found.sort((a, b) => compare(value(a, order), value(b, order)));
  return found;
}

export function compare(a, b) {
  if (a === undefined || a === null) return b === undefined || b === null ? 0 : 1;
  if (b === undefined || b === null) return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

export function shown() { return listed().filter((run) => !hidden.has(run.name)); }
export function color(id) { return colors.get(id) || "#888"; }
export function groupOf(run) { const by = state.get("group"); return by ? short(value(run, by)) : null; }

export function repaint() { paint(); tell(); }

// Colours: one for each run, or by a hyper-parameter: a scale for numbers, a colour for each value otherwise.
function paint() {
  colors = new Map();
  const by = state.get("group") || state.get("color");
  if (!by) { all.forEach((run, i) => colors.set(run.id, categorical(i))); return; }
  const found = all.map((run) => value(run, by)), numbers = found.filter((v) => typeof v === "number" && Number.isFinite(v));
  const kinds = [...new Set(found.map(String))].sort();
  if (numbers.length && numbers.length === found.filter((v) => v !== undefined).length && kinds.length > 4 && !state.get("group")) {
    const { low, high, log } = span(numbers);
    all.forEach((run, i) => colors.set(run.id, typeof found[i] === "number" ? hue(log ? Math.log(found[i] / low) / Math.log(high / low) : (found[i] - low) / (high - low || 1)) : "#999"));
  } else all.forEach((run, i) => colors.set(run.id, categorical(kinds.indexOf(String(found[i])))));
}

export function span(numbers) {
  const low = Math.min(...numbers), high = Math.max(...numbers);
  return { low, high, log: low > 0 && high / low > 50 };
}

function legend(box) {
  const by = state.get("group") || state.get("color");
  if (!by) { box.hidden = true; return; }
  box.hidden = false;
  const found = all.map((run) => value(run, by)), numbers = found.filter((v) => typeof v === "number");
  const kinds = [...new Set(found.map(String))].sort();
  if (numbers.length && kinds.length > 4 && !state.get("group")) {
    const { low, high, log } = span(numbers);
    fill(box, by + (log ? " (logarithmic)" : ""), h("div", { class: "scale", style: "background:" + gradient() }),
      h("div", { style: "display:flex;justify-content:space-between" }, h("span", {}, short(low)), h("span", {}, short(high))));
  } else {
    fill(box, by, kinds.slice(0, 12).map((kind, i) => h("div", { style: "display:flex;gap:8px;align-items:center" },
      h("i", { class: "dot", style: "background:" + categorical(i) }), kind === "undefined" ? "–" : Number.isNaN(+kind) ? kind : short(+kind))),
      kinds.length > 12 ? h("div", {}, `and ${kinds.length - 12} more`) : null);
  }
}

export function toggle(run, on) {
  if (on) hidden.delete(run.name); else hidden.add(run.name);
  state.set("off", [...hidden], true);
  tell();
}

function only(run) {
  const rest = listed().filter((other) => other !== run);
  hidden = new Set(hidden.size && rest.every((other) => hidden.has(other.name)) && !hidden.has(run.name) ? [] : rest.map((other) => other.name));
  state.set("off", [...hidden], true);
  tell();
}

// The side panel. Only the rows in sight exist, so thousands of runs cost nothing.
export function panel(single) {
  const list = h("div", { class: "runs", role: "listbox", "aria-label": "Runs", "aria-multiselectable": String(!single), tabIndex: 0 });
  const filler = h("div"), count = h("span", { class: "count" }), key = h("div", { class: "legend" });
  const draw = () => {
    const found = listed(), chosen = single ? single.get() : null;
    filler.style.height = found.length * HEIGHT + "px";
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4), last = Math.min(found.length, first + Math.ceil((list.clientHeight || 700) / HEIGHT) + 8);
    const rows = [];
    for (let i = first; i < last; i++) rows.push(row(found[i], i, chosen));
    list.replaceChildren(filler, ...rows);
    const on = found.filter((run) => !hidden.has(run.name)).length;
    count.textContent = single ? counted(found.length, "run") : `${on} of ${all.length} shown`;
    legend(key);
  };
  const row = (run, i, chosen) => {
    const on = single ? chosen === run.name : !hidden.has(run.name);
    const box = single ? null : h("input", { type: "checkbox", checked: on, tabIndex: -1, "aria-label": label(run), onclick: (e) => { e.stopPropagation(); toggle(run, box.checked); } });
    return h("div", { class: "run" + (on || single ? "" : " off"), style: `top:${i * HEIGHT}px` + (single && on ? ";background:var(--hover)" : ""), role: "option", "aria-selected": String(on), title: run.name + (run.note ? "\n" + run.note : ""),
      onclick: () => single ? single.set(run.name) : toggle(run, hidden.has(run.name)), ondblclick: () => { if (!single) only(run); } },
      box, h("i", { class: "dot", style: "background:" + color(run.id) }), h("span", { class: "name" }, elided(brief(run))),
      run.damage ? h("span", { class: "mark", title: run.damage }, "⚠") : null);
  };
  list.addEventListener("scroll", () => requestAnimationFrame(draw));
  let place = 0;
  list.addEventListener("keydown", (event) => {
    const found = listed();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      place = Math.max(0, Math.min(found.length - 1, place + (event.key === "ArrowDown" ? 1 : -1)));
      list.scrollTop = Math.max(0, Math.min(place * HEIGHT, Math.max(list.scrollTop, (place + 1) * HEIGHT - list.clientHeight)));
      if (single) single.set(found[place].name);
      event.preventDefault();
    } else if (event.key === " " || event.key === "Enter") {
      if (!single && found[place]) toggle(found[place], hidden.has(found[place].name));
      event.preventDefault();
    }
  });
  const search = patternField("run-filter", "runs", state.get("runs"), (text) => { state.set("runs", text, true); list.scrollTop = 0; draw(); tell(); });
  const options = () => [["", "none"], ...columns.map((name) => [name, name])];
  const head = h("div", { class: "head" });
  const build = () => fill(head, search,
    h("div", { class: "row" }, count, h("span", { class: "spacer" }), single ? null : [
      h("button", { class: "quiet", title: "Show all", onclick: () => { hidden = new Set(); state.set("off", [], true); tell(); } }, "all"),
      h("button", { class: "quiet", title: "Show none", onclick: () => { hidden = new Set(all.map((r) => r.name)); state.set("off", [...hidden], true); tell(); } }, "none")]),
    columns.length && !single ? [
      h("div", { class: "row" }, h("label", {}, "Colour", picker(options(), state.get("color"), (v) => { state.set("color", v, true); paint(); tell(); }, "Colour by"))),
      h("div", { class: "row" }, h("label", {}, "Group", picker(options(), state.get("group"), (v) => { state.set("group", v, true); paint(); tell(); }, "Group by")))] : null);
  build();
  let width = columns.length;
  const stop = changed(() => { if (columns.length !== width) { width = columns.length; build(); } draw(); });
  const side = h("aside", { class: "side" }, head, list, key);
  requestAnimationFrame(draw);
  return { node: side, stop, draw };
}
