// One item at a time: see it, accept or correct it by keyboard. The server keeps all state; a reload loses nothing.
"use strict";
const $ = (id) => document.getElementById(id);
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#999999"];
let state = null, current = null /* the item shown */, boxes = [], chosen = 0, picked = -1, scale = 1, image = null, drag = null, busy = false;

// A server that has ended must not look like one that stores.
class Away extends Error {}
function away(is) {
  document.body.classList.toggle("away", is);
  if (is) $("message").textContent = "The server does not answer: what you press is not stored until it runs again.";
}

async function call(path, body) {
  let reply;
  try { reply = await fetch(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }); }
  catch { away(true); throw new Away(); }
  away(false);
  const value = await reply.json();
  if (!reply.ok) { $("message").textContent = value.error; throw new Error(value.error); }
  return value;
}

async function refresh() {
  state = await call("/api/state");
  $("progress").max = state.items; $("progress").value = state.labelled;
  $("count").textContent = `${state.labelled} of ${state.items} by people` + (state.by_machine ? `, ${state.by_machine} by the network` : "");
  $("message").textContent = state.message;
  $("learn").hidden = !state.can_learn; $("learn").disabled = state.learning;
  $("boxkeys").hidden = state.kind !== "boxes";
  drawClasses();
}

// The key of a class: itself where all classes are digits, else its place.
function keyOf(i) {
  if (state.classes.every((name) => /^[0-9]$/.test(name))) return state.classes[i];
  return i < 9 ? String(i + 1) : i === 9 ? "0" : "";
}

let drawn = "";
function drawClasses() {
  const guess = current && current.suggestion && state.kind !== "boxes" ? current.suggestion.value : -1;
  const now = JSON.stringify([state.classes, state.counts, guess, chosen]);
  if (now === drawn) return;  // a button that has the focus keeps it
  drawn = now;
  $("classes").replaceChildren(...state.classes.map((name, i) => {
    const button = document.createElement("button");
    const parts = [["kbd", "", keyOf(i)], ["span", "name", name], ["span", "many", String(state.counts[i])]];
    button.append(...parts.map(([tag, style, text]) => Object.assign(document.createElement(tag), { className: style, textContent: text })));
    button.classList.toggle("suggested", state.kind === "boxes" ? i === chosen : i === guess);
    button.onclick = () => choose(i);
    const row = document.createElement("li"); row.append(button);
    return row;
  }));
}

async function next() { await show(await call("/api/next")); }

async function show(item) {
  current = item;
  $("wait").hidden = true;
  const none = current.item === null;
  $("empty").hidden = !none;
  for (const id of ["picture", "text", "table"]) $(id).hidden = true;
  $("suggestion").textContent = "";
  if (!none) {
    if (state.kind === "text") { $("text").hidden = false; $("text").textContent = current.content; }
    else if (state.kind === "table") drawTable();
    else await drawPicture();
    const s = current.suggestion;
    if (s && state.kind !== "boxes") $("suggestion").textContent = `${state.classes[s.value]}? (${(100 * s.confidence).toFixed(0)} %)`;
  }
  busy = false;  // the item can be seen: keys are for it
  await refresh();
}

function drawTable() {
  $("table").hidden = false;
  $("table").replaceChildren(...Object.entries(current.content).map(([name, value]) => {
    const row = document.createElement("tr");
    row.append(Object.assign(document.createElement("th"), { textContent: name }), Object.assign(document.createElement("td"), { textContent: String(value) }));
    return row;
  }));
}

async function drawPicture() {
  image = new Image();
  image.src = `/item/${current.item}.png`;
  await image.decode();
  scale = Math.max(1, Math.floor(Math.min(560 / image.width, 420 / image.height)));
  $("picture").width = image.width * scale; $("picture").height = image.height * scale;
  $("picture").hidden = false;
  boxes = state.kind === "boxes" ? (current.label || (current.suggestion || {}).value || []).map((b) => b.slice()) : [];
  picked = -1;
  paint();
}

function paint() {
  const pen = $("picture").getContext("2d");
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, image.width * scale, image.height * scale);
  const all = drag ? boxes.concat([drag]) : boxes;
  all.forEach(([x, y, w, h, kind], i) => {
    pen.strokeStyle = pen.fillStyle = COLOURS[kind % COLOURS.length];
    pen.lineWidth = i === picked ? 4 : 2;
    pen.strokeRect(x * scale, y * scale, w * scale, h * scale);
    pen.font = "14px sans-serif"; pen.fillText(state.classes[kind], x * scale + 4, y * scale + 16);
  });
}

function place(event) {
  const frame = $("picture").getBoundingClientRect();
  return [(event.clientX - frame.left) / frame.width * image.width, (event.clientY - frame.top) / frame.height * image.height];
}
let from = null;
$("picture").onpointerdown = (event) => { if (state.kind === "boxes") from = place(event); };
$("picture").onpointermove = (event) => {
  if (!from) return;
  const [x, y] = place(event);
  drag = [Math.min(x, from[0]), Math.min(y, from[1]), Math.abs(x - from[0]), Math.abs(y - from[1]), chosen];
  paint();
};
window.addEventListener("pointerup", () => {
  if (!from) return;
  if (drag && drag[2] > 2 && drag[3] > 2) { boxes.push(drag); picked = boxes.length - 1; }
  else picked = boxes.findIndex(([x, y, w, h]) => from[0] >= x && from[0] <= x + w && from[1] >= y && from[1] <= y + h);
  from = drag = null;
  paint();
});

async function answer(value) {
  if (busy || !current || current.item === null) return;
  busy = true;  // keys pressed before the next item is seen are not meant for it
  try { await call("/api/answer", { item: current.item, value }); } catch (error) { busy = false; throw error; }
  await next();
}
function choose(i) {
  if (state.kind !== "boxes") return answer(i);
  chosen = i;
  if (picked >= 0) boxes[picked][4] = i;
  drawClasses(); paint();
}
async function undo() {
  const { item } = await call("/api/undo", {});
  if (item !== null) await show(await call(`/api/item/${item}`));
}
async function learn() { await call("/api/learn", {}); await refresh(); }
$("learn").onclick = learn;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !state) return;
  const key = event.key.toLowerCase();
  if (key === "enter" && event.target.tagName === "BUTTON") return;  // it is the button that is meant
  if (/^[0-9]$/.test(key)) { const i = state.classes.findIndex((_, n) => keyOf(n) === key); if (i >= 0) choose(i); }
  else if (key === "enter") {
    event.preventDefault();
    if (state.kind === "boxes") answer(boxes);
    else if (current && current.suggestion) answer(current.suggestion.value);
  }
  else if (key === "s") answer(null);
  else if (key === "u" || key === "backspace") undo();
  else if (key === "l" && state.can_learn && !state.learning) learn();
  else if (key === "delete" && picked >= 0) { boxes.splice(picked, 1); picked = -1; paint(); }
});

addEventListener("unhandledrejection", (event) => { if (event.reason instanceof Away) event.preventDefault(); });  // it has been said

setInterval(async () => {
  const was = state && state.learning;
  await refresh();
  if (!current && !busy) await begin();
  else if (was && !state.learning && current) await next();
}, 1500);

async function begin() {
  busy = true;  // the first choice among many items takes a while
  try { await refresh(); await next(); } finally { busy = false; }
}
begin();
