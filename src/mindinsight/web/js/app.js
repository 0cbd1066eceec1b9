// The frame: header, navigation, the page in view, live updates, keys.
import { get, listen } from "./api.js";
import { bytes, counted, fill, h, icon, later, nothing } from "./dom.js";
import * as runs from "./runs.js";
import * as state from "./state.js";

const PAGES = [
  ["runs", "Runs", "M3 5h14M3 10h14M3 15h14", "Training"],
  ["scalars", "Scalars", "M3 15l4-6 4 3 6-8M3 17h14"],
  ["distributions", "Distributions", "M3 16c3 0 3-11 7-11s4 11 7 11z", null, "histogram"],
  ["images", "Images", "M3 4h14v12H3zM3 13l4-4 4 4 2-2 4 4M13 8h.01", null, "image"],
  ["tensors", "Tensors", "M3 4h14v12H3zM3 8h14M3 12h14M8 4v12M13 4v12", null, "tensor"],
  ["media", "Text and sound", "M4 5h12M4 9h8M4 13h5M15 11v5a1.5 1.5 0 1 1-1-1.4", null, ["text", "audio", "curve", "unshown"]],
  ["graph", "Graph", "M7 4h6v4H7zM2 13h6v4H2zM12 13h6v4h-6zM10 8v3M5 13v-2h10v2", "Model", "graph"],
  ["dataset", "Dataset", "M3 5c0-2 14-2 14 0s-14 2-14 0v10c0 2 14 2 14 0V5M3 10c0 2 14 2 14 0", null, "lineage"],
  ["landscape", "Landscape", "M2 16l5-9 3 5 2-3 6 7z", null, "landscape"],
  ["lineage", "Lineage", "M4 3v14M10 3v14M16 3v14M4 6l6 6 6-7M4 13l6-6 6 7", "Tuning", "lineage"],
  ["tuner", "Tuner", "M4 6h6M14 6h2M4 14h2M10 14h6M10 4v4M6 12v4"],
  ["profiler", "Profiler", "M10 3a7 7 0 1 0 7 7M10 10V5M10 10l4 3", "Inspect", "profile"],
  ["explainer", "Explainer", "M10 4c5 0 8 6 8 6s-3 6-8 6-8-6-8-6 3-6 8-6zM10 8a2 2 0 1 1 0 4 2 2 0 0 1 0-4", null, "explain"],
  ["debugger", "Debugger", "M7 7h6v7a3 3 0 0 1-6 0zM8 7V5a2 2 0 0 1 4 0v2M3 9h4M13 9h4M3 14h4M13 14h4"],
];

const app = document.getElementById("app");
const main = h("main", { id: "main" }), nav = h("nav", { "aria-label": "Pages" });
const progress = h("i"), bar = h("div", { class: "progress", title: "" }, progress), live = h("span", { class: "live" }, "live"), folder = h("span", { class: "folder" });
let about = null, open = null, turn = 0;

function theme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  try { localStorage.setItem("theme", dark ? "dark" : "light"); } catch { /* storage may be forbidden */ }
  if (about) runs.repaint();
  if (open && open.repaint) open.repaint();
  for (const canvas of document.querySelectorAll("canvas")) canvas.dispatchEvent(new Event("theme"));
  window.dispatchEvent(new Event("resize"));
}

function stored() { try { return localStorage.getItem("theme"); } catch { return null; } }

function navigation() {
  const here = state.current(), parts = [];
  for (const [name, text, path, part, kind] of PAGES) {
    if (part) parts.push(h("div", { class: "part" }, part));
    const empty = kind && about && ![kind].flat().some((k) => (about.kinds[k] || []).length);
    parts.push(h("a", { href: state.link(name), "aria-current": name === here ? "page" : null, class: empty ? "empty" : "", title: text }, icon(path), h("span", {}, text)));
  }
  fill(nav, parts);
}

async function show() {
  const mine = ++turn, name = state.current();
  if (open && open.close) open.close();
  if (open && open.panel) open.panel.stop();
  open = null;
  document.querySelectorAll(".tip").forEach((tip) => tip.remove());
  navigation();
  const root = h("div", { class: "page", tabIndex: -1 });
  let page;
  if (!PAGES.some(([known]) => known === name)) { fill(main, h("div", { class: "page" }, nothing(`There is no page "${name}"`, "Choose one at the left."))); return; }
  try { page = (await import(`./pages/${name}.js`)).default; }
  catch (error) { fill(main, h("div", { class: "page" }, nothing("This page cannot be loaded", error.message))); return; }
  if (mine !== turn) return;
  const panel = page.side === true ? runs.panel() : page.side === "one" ? runs.panel({ get: () => chosen(page.kind), set: (value) => { state.set("run", value, true); show(); } }) : null;
  fill(main, panel ? panel.node : null, root);
  document.title = (PAGES.find(([n]) => n === name) || ["", ""])[1] + " – MindInsight";
  try {
    const made = await page.show(root, page.side === "one" ? chosen(page.kind) : null, about);
    if (mine !== turn) { if (made && made.close) made.close(); return; }
    open = { ...(made || {}), panel };
    const none = page.side === "one" && root.querySelector(".none");
    if (none) none.append(...elsewhere(page.kind));
  } catch (error) {
    open = { panel };
    root.append(nothing("This cannot be shown", h("span", { class: "error" }, error.message)));
    if (!(error.constructor.name === "ApiError")) console.error(error);
  }
}

// For a run with nothing to show: those that have something, the latest first.
function elsewhere(kind) {
  const has = new Set((kind || []).flatMap((k) => about.kinds[k] || [])), name = chosen(kind);
  const found = runs.runs().filter((run) => has.has(run.id) && run.name !== name).sort((a, b) => b.updated - a.updated);
  const link = (run) => h("div", {}, h("button", { class: "link", onclick: () => { state.set("run", run.name, true); show(); } }, runs.label(run)));
  return found.length ? [h("p", {}, `${counted(found.length, "other run")} may have some:`), ...found.slice(0, 5).map(link)] : [];
}

// The run of pages that show one: the one in the address, else the latest that has something to show.
function chosen(kind) {
  const name = state.get("run"), all = runs.runs();
  if (all.some((run) => run.name === name)) return name;
  const has = kind && about ? new Set(kind.flatMap((k) => about.kinds[k] || [])) : null;
  const found = all.filter((run) => !has || has.has(run.id)).sort((a, b) => b.updated - a.updated);
  return (found[0] || all[0] || { name: null }).name;
}

// How much has been read. What is left for a while is the end of a record that is still to be written, or never will be.
const STILL = 4000;
function status(now, settled = false) {
  const { read, size, damaged } = now, share = size ? Math.min(1, read / size) : 1, reading = share < 1 && !settled;
  clearTimeout(status.timer);
  if (reading) status.timer = setTimeout(() => status(now, true), STILL);
  progress.style.width = 100 * share + "%";
  bar.hidden = !reading;
  bar.title = `${bytes(read)} of ${bytes(size)} read`;
  live.title = share < 1 && !reading ? `${bytes(size - read)} at the ends of files are no whole records yet` : "";
  live.classList.toggle("error", Boolean(now.trouble));
  if (now.trouble) { live.title = now.trouble; live.textContent = now.trouble; return; }
  live.textContent = reading ? `reading ${Math.floor(100 * share)} %` : damaged ? `live · ${damaged} damaged records` : "live";
}

function connected(on) {
  live.classList.toggle("on", on);
  if (on) status(about); else live.textContent = "the server does not answer";
}

const refresh = later(async (ids) => { about = await get("board/state"); await runs.load(); navigation(); if (open && open.live) open.live(ids); }, 50);
let pending = new Set(), last = 0;
function changed(change) {
  status(change);
  for (const id of change.runs) pending.add(id);
  const wait = Math.max(0, last + (change.read < change.size ? 1500 : 400) - Date.now());
  clearTimeout(changed.timer);
  changed.timer = setTimeout(() => { last = Date.now(); const ids = pending; pending = new Set(); refresh(ids); }, wait);
}

const keys = h("dialog", { "aria-label": "Keys" }, h("h2", {}, "Keys"), h("dl", { class: "facts" },
  [["/", "filter tags or nodes"], ["r", "filter runs"], ["1 … 9", "pages"], ["d", "dark or light"], ["+ − 0", "zoom in, out, all (chart in focus)"], ["← →", "move the cursor of the chart in focus"], ["?", "this list"]].map(([k, t]) => [h("dt", {}, h("kbd", {}, k)), h("dd", {}, t)])), h("button", { onclick: () => keys.close() }, "Close"));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) { if (event.key === "Escape") event.target.blur(); return; }
  if (event.target.tagName === "CANVAS" && /^[-+=0]$/.test(event.key)) return;
  const focus = (id) => { const node = document.getElementById(id); if (node) { node.focus(); node.select(); event.preventDefault(); } };
  if (event.key === "/") focus("tag-filter");
  else if (event.key === "r") focus("run-filter");
  else if (event.key === "d") theme(!document.documentElement.classList.contains("dark"));
  else if (event.key === "?") keys.showModal();
  else if (/^[1-9]$/.test(event.key)) location.hash = state.link(PAGES[+event.key - 1][0]).slice(1);
});

async function begin() {
  theme(state.get("theme") ? state.get("theme") === "dark" : (stored() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark");
  app.append(h("header", {}, h("a", { class: "skip", href: "#main", onclick: (e) => { e.preventDefault(); main.querySelector(".page").focus(); } }, "Skip to content"),
    h("span", { class: "brand" }, h("img", { src: "static/icon.svg", alt: "" }), "MindInsight"), folder, h("span", { class: "spacer" }), bar, live,
    h("button", { class: "quiet", title: "Keys (?)", onclick: () => keys.showModal() }, "⌨"),
    h("button", { class: "quiet", title: "Dark or light (d)", "aria-label": "Dark or light", onclick: () => theme(!document.documentElement.classList.contains("dark")) }, "◐")), nav, main, keys);
  try { [about] = await Promise.all([get("board/state"), runs.load()]); }
  catch (error) { fill(main, nothing("The server does not answer", error.message)); return; }
  folder.textContent = "\u200e" + about.folder; folder.title = about.folder;
  status(about);
  state.follow(show);  // before the first page is made: whoever is quicker than it gets the page asked for
  await show();
  listen(about.revision, changed, connected);
}
begin();
