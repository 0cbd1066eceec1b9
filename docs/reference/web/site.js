// Theme, menu, copying of code, and the search over all names and headings. Read before the page, so that no light page flashes.
"use strict";
const page = document.documentElement;
const theme = localStorage.getItem("theme");
if (theme) page.dataset.theme = theme;

function isDark() {
  return page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function changeTheme() {
  page.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", page.dataset.theme);
}

// what one would type again: of a session only the lines after its prompts
function typed(pre) {
  const lines = pre.innerText.split("\n");
  const asked = lines.filter(line => /^(>>>|\.\.\.)/.test(line));
  return asked.length ? asked.map(line => line.slice(4)).join("\n") : pre.innerText;
}

function addCopyButton(block) {
  const button = Object.assign(document.createElement("button"), {type: "button", textContent: "Copy"});
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typed(block.querySelector("pre")));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

// the index is large, so it is read when somebody begins to search
function readIndex(root) {
  return new Promise(done => {
    if (window.INDEX) return done();
    document.head.append(Object.assign(document.createElement("script"), {src: root + "index.js", onload: done}));
  });
}

// smaller is better; 9 is no hit
function rank(title, wanted) {
  const name = title.toLowerCase(), last = name.split(".").pop();
  if (last === wanted || name === wanted) return 0;
  if (last.startsWith(wanted) || name.startsWith(wanted)) return 1;
  if (last.includes(wanted)) return 2;
  return wanted.split(/\s+/).every(word => name.includes(word)) ? 3 : 9;
}

function hits(wanted) {
  return window.INDEX.map(([title, place, kind]) => [rank(title, wanted), title, place, kind]).filter(hit => hit[0] < 9)
    .sort((a, b) => a[0] - b[0] || a[1].length - b[1].length).slice(0, 30);
}

function startSearch(root) {
  const box = document.getElementById("search"), found = document.getElementById("found");
  async function show() {
    await readIndex(root);
    const wanted = box.value.trim().toLowerCase();
    const links = (wanted ? hits(wanted) : []).map(([, title, place, kind]) => {
      const link = Object.assign(document.createElement("a"), {href: root + place, textContent: title});
      link.append(Object.assign(document.createElement("small"), {textContent: kind}));
      return link;
    });
    found.replaceChildren(...links);
    if (wanted && !links.length) found.append(Object.assign(document.createElement("p"), {textContent: "Nothing found."}));
  }
  box.addEventListener("input", show);
  box.addEventListener("focus", show);
  document.addEventListener("keydown", event => {
    const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    const within = at >= 0 || document.activeElement === box;
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) box.focus();
    else if (within && event.key === "Enter" && at < 0 && links.length) location.href = links[0].href;
    else if (within && event.key === "ArrowDown" && links.length) links[Math.min(at < 0 ? (links.length > 1 ? 1 : 0) : at + 1, links.length - 1)].focus();
    else if (within && event.key === "ArrowUp") at > 0 ? links[at - 1].focus() : box.focus();
    else if (within && event.key === "Escape") { found.replaceChildren(); box.blur(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", event => { if (!event.target.closest(".find")) found.replaceChildren(); });
}

document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", changeTheme);
  document.getElementById("menu").addEventListener("click", () => document.body.classList.toggle("menu"));
  document.querySelectorAll(".code").forEach(addCopyButton);
  document.querySelector("nav.pages [aria-current]")?.scrollIntoView({block: "center"});
  startSearch(document.body.dataset.root);
});
