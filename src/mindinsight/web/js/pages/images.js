// Images: one card for each tag with a slider over its steps.
import { address, get } from "../api.js";
import { clock, counted, elided, fill, h, nothing, patternField, regex, short } from "../dom.js";
import * as state from "../state.js";

export default {
  side: "one", kind: ["image"],
  async show(root, run) {
    if (!run) { root.append(nothing("No runs yet")); return {}; }
    const { tags } = await get("board/things", { kind: "image", train_id: run }), names = Object.keys(tags), grid = h("div", { class: "pictures" });
    const filter = patternField("tag-filter", "tags", state.get("tag"), (text) => { state.set("tag", text, true); layout(); });
    const smooth = h("input", { type: "checkbox", onchange: () => grid.querySelectorAll("img").forEach((img) => { img.style.imageRendering = smooth.checked ? "auto" : ""; }) });
    const bright = h("input", { type: "range", min: 0.3, max: 3, step: 0.05, value: 1, "aria-label": "Brightness", oninput: () => adjust() }), contrast = h("input", { type: "range", min: 0.3, max: 3, step: 0.05, value: 1, "aria-label": "Contrast", oninput: () => adjust() });
    const adjust = () => { grid.style.filter = ""; grid.querySelectorAll("img").forEach((img) => { img.style.filter = `brightness(${bright.value}) contrast(${contrast.value})`; }); };
    const size = h("input", { type: "range", min: 160, max: 700, step: 20, value: 280, "aria-label": "Size", oninput: () => { grid.style.gridTemplateColumns = `repeat(auto-fill, minmax(${size.value}px, 1fr))`; grid.querySelectorAll("img").forEach((img) => { img.style.height = size.value * 0.8 + "px"; }); } });
    root.append(h("div", { class: "bar" }, h("h1", {}, "Images"), filter, h("span", { class: "count" }, counted(names.length, "tag")), h("span", { class: "spacer" }), h("label", {}, "Size", size), h("label", {}, "Brightness", bright), h("label", {}, "Contrast", contrast), h("label", {}, smooth, "smooth")), grid);
    const card = (tag) => {
      const steps = tags[tag], img = h("img", { alt: `${tag}`, loading: "lazy" }), caption = h("span", { class: "count" });
      const slider = h("input", { type: "range", min: 0, max: steps.length - 1, value: steps.length - 1, style: "width:100%", "aria-label": `Step of ${tag}`, oninput: () => show() });
      const show = () => { const [step, wall] = steps[+slider.value]; img.src = address("datavisual/image/single-image", { train_id: run, tag, step }); caption.textContent = `step ${short(step)} · ${clock(wall)} · ${img.naturalWidth || "?"}×${img.naturalHeight || "?"}`; };
      img.addEventListener("load", () => { caption.textContent = caption.textContent.replace(/[^·]*$/, ` ${img.naturalWidth}×${img.naturalHeight}`); });
      show();
      return h("section", { class: "card picture" }, h("div", { class: "top" }, h("h3", {}, elided(tag))), img, steps.length > 1 ? slider : null, caption);
    };
    const layout = () => { const pattern = regex(filter.value); fill(grid, names.filter((tag) => !pattern || pattern.test(tag)).map(card)); if (!names.length) fill(grid, nothing("No images in this run", "SummaryCollector records input images (collect_input_data).")); };
    layout();
    return {};
  },
};
