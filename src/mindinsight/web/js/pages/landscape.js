// The loss over a plane of weights: contours with the way of training, or a surface that can be turned.
import { get } from "../api.js";
import { ticks } from "../chart.js";
import { rgb, scaled } from "../colors.js";
import { fill, h, ink, nothing, picker, segments, short, surface } from "../dom.js";
import * as state from "../state.js";

// Lines of equal height through a grid (marching squares, one segment for each cell and height).
function contour(context, z, level, px, py) {
  const n = z.length, m = z[0].length, t = (a, b) => (level - a) / (b - a);
  context.beginPath();
  for (let i = 0; i + 1 < n; i++) for (let j = 0; j + 1 < m; j++) {
    const a = z[i][j], b = z[i][j + 1], c = z[i + 1][j + 1], d = z[i + 1][j], cuts = [];
    if ((a < level) !== (b < level)) cuts.push([px(j + t(a, b)), py(i)]);
    if ((b < level) !== (c < level)) cuts.push([px(j + 1), py(i + t(b, c))]);
    if ((d < level) !== (c < level)) cuts.push([px(j + t(d, c)), py(i + 1)]);
    if ((a < level) !== (d < level)) cuts.push([px(j), py(i + t(a, d))]);
    for (let k = 0; k + 1 < cuts.length; k += 2) { context.moveTo(...cuts[k]); context.lineTo(...cuts[k + 1]); }
  }
  context.stroke();
}

export default {
  side: "one", kind: ["landscape"],
  async show(root, run) {
    root.append(h("div", { class: "bar" }, h("h1", {}, "Loss landscape"), h("span", { class: "count" }, run || "")));
    const intervals = run ? (await get("datavisual/landscape/intervals", { train_id: run })).intervals : [];
    const ask = async (query) => (await get("datavisual/landscape/landscapes", { train_id: run, ...query })).landscapes[0];
    const final = run ? await ask({ type: "final" }) : {}, choices = intervals.map(({ id, value }) => [id, `${value[0]} to ${value[1]}`]);
    if (!final.error_code) choices.push(["final", "the result"]);
    if (!choices.length) { root.append(nothing("No landscape in this run", "Train with SummaryCollector(collect_specified_data={\"collect_landscape\": …}) and call SummaryLandscape.gen_landscapes_with_multi_process.")); return {}; }
    const at = Math.min(Math.max(0, state.number("part", 0)), choices.length - 1), key = choices[at][0];
    const data = key === "final" ? final : await ask({ type: "interval", interval_id: key });
    const xs = data.points.x, ys = data.points.y, flat = data.points.z, n = ys.length, m = xs.length;
    const z = Array.isArray(flat[0]) ? flat : Array.from({ length: n }, (_, i) => flat.slice(i * m, (i + 1) * m));
    const values = z.flat().filter(Number.isFinite), low = Math.min(...values), high = Math.max(...values), log = low > 0 && high / low > 20;
    const share = (v) => log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low || 1), path = data.path && data.path.x ? data.path : null;
    let turn = 0.7, tilt = 0.9;
    const box = h("div", { class: "graph", style: "height:calc(100vh - 200px)" }), view = h("span"), mode = () => state.get("as", "contour");
    const views = () => fill(view, segments([["contour", "Contours"], ["surface", "Surface"]], mode(), (v) => { state.set("as", v, true); views(); stage.redraw(); }, "View"));
    const flatView = (context, width, height) => {
      const left = 60, right = 90, top = 20, bottom = 40, w = width - left - right, t = height - top - bottom;
      const fine = 4, image = new ImageData((m - 1) * fine, (n - 1) * fine);
      for (let i = 0; i < image.height; i++) for (let j = 0; j < image.width; j++) {
        const a = Math.floor(i / fine), b = Math.floor(j / fine), u = i / fine - a, v = j / fine - b;
        const value = z[a][b] * (1 - u) * (1 - v) + z[a + 1][b] * u * (1 - v) + z[a][b + 1] * (1 - u) * v + z[a + 1][b + 1] * u * v;
        image.data.set([...rgb(Number.isFinite(value) ? share(value) : 1), 255], 4 * ((image.height - 1 - i) * image.width + j));
      }
      const small = new OffscreenCanvas(image.width, image.height);
      small.getContext("2d").putImageData(image, 0, 0);
      context.imageSmoothingEnabled = true; context.drawImage(small, left, top, w, t);
      const px = (j) => left + j / (m - 1) * w, py = (i) => top + t - i / (n - 1) * t;
      context.strokeStyle = "rgba(255,255,255,.55)"; context.lineWidth = 1;
      for (let k = 1; k < 14; k++) contour(context, z, log ? low * (high / low) ** (k / 14) : low + (high - low) * k / 14, px, py);
      const vx = (v) => left + (v - xs[0]) / (xs[m - 1] - xs[0]) * w, vy = (v) => top + t - (v - ys[0]) / (ys[n - 1] - ys[0]) * t;
      if (path) {
        context.strokeStyle = "#fff"; context.lineWidth = 4; line(context, path.x, path.y, vx, vy);
        context.strokeStyle = "#d55e00"; context.lineWidth = 2; line(context, path.x, path.y, vx, vy);
        path.x.forEach((x, i) => { context.beginPath(); context.arc(vx(x), vy(path.y[i]), i === path.x.length - 1 ? 6 : 4, 0, 7); context.fillStyle = i === path.x.length - 1 ? "#fff" : "#d55e00"; context.fill(); context.lineWidth = 1.5; context.strokeStyle = "#d55e00"; context.stroke(); });
      }
      context.fillStyle = ink("--faint"); context.font = "11px system-ui, 'Liberation Sans', sans-serif"; context.textAlign = "center"; context.textBaseline = "top";
      for (const v of ticks(xs[0], xs[m - 1], 6)) context.fillText(short(v), vx(v), top + t + 8);
      context.textAlign = "right"; context.textBaseline = "middle";
      for (const v of ticks(ys[0], ys[n - 1], 6)) context.fillText(short(v), left - 8, vy(v));
      for (let k = 0; k < 100; k++) { context.fillStyle = scaled(k / 99); context.fillRect(width - right + 20, top + t - (k + 1) * t / 100, 14, t / 100 + 1); }
      context.fillStyle = ink("--faint"); context.textAlign = "left"; context.fillText(short(high), width - right + 40, top + 6); context.fillText(short(low), width - right + 40, top + t - 6); context.fillText("loss", width - right + 40, top + t / 2);
    };
    const line = (context, a, b, fx, fy) => { context.beginPath(); a.forEach((v, i) => context[i ? "lineTo" : "moveTo"](fx(v), fy(b[i]))); context.stroke(); };
    const solid = (context, width, height) => {
      const scale = Math.min(width, height * 1.4) * 0.55, cx = width / 2, cy = height * 0.56, ct = Math.cos(turn), st = Math.sin(turn), ci = Math.cos(tilt), si = Math.sin(tilt);
      const project = (u, v, w) => { const x = (u - 0.5) * ct - (v - 0.5) * st, y = (u - 0.5) * st + (v - 0.5) * ct; return [cx + x * scale, cy + (y * ci - w * 0.55 * si) * scale, y]; };
      const faces = [];
      for (let i = 0; i + 1 < n; i++) for (let j = 0; j + 1 < m; j++) {
        const corner = (a, b) => project(b / (m - 1), a / (n - 1), share(z[a][b])), p = [corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j)];
        faces.push([p[0][2] + p[1][2] + p[2][2] + p[3][2], p, share((z[i][j] + z[i + 1][j + 1]) / 2)]);
      }
      faces.sort((a, b) => a[0] - b[0]);
      for (const [, p, s] of faces) { context.beginPath(); p.forEach(([x, y], k) => context[k ? "lineTo" : "moveTo"](x, y)); context.closePath(); context.fillStyle = scaled(s); context.fill(); context.strokeStyle = "rgba(255,255,255,.18)"; context.lineWidth = 0.6; context.stroke(); }
      if (path) {
        const points = path.x.map((x, i) => project((x - xs[0]) / (xs[m - 1] - xs[0]), (path.y[i] - ys[0]) / (ys[n - 1] - ys[0]), share(Math.max(low, Math.min(high, path.z[i]))) + 0.02));
        context.strokeStyle = "#d55e00"; context.lineWidth = 3; context.beginPath(); points.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x, y)); context.stroke();
        for (const [x, y] of points) { context.beginPath(); context.arc(x, y, 4, 0, 7); context.fillStyle = "#fff"; context.fill(); context.stroke(); }
      }
      context.fillStyle = ink("--faint"); context.font = "12px system-ui, 'Liberation Sans', sans-serif"; context.fillText("drag to turn", 16, height - 16);
    };
    const stage = surface(box, (context, width, height) => (mode() === "surface" ? solid : flatView)(context, width, height));
    let drag = null;
    stage.canvas.addEventListener("pointerdown", (e) => { drag = [e.clientX, e.clientY, turn, tilt]; stage.canvas.setPointerCapture(e.pointerId); });
    stage.canvas.addEventListener("pointermove", (e) => { if (drag && mode() === "surface") { turn = drag[2] + (e.clientX - drag[0]) / 160; tilt = Math.max(0.15, Math.min(1.5, drag[3] - (e.clientY - drag[1]) / 200)); stage.redraw(); } });
    stage.canvas.addEventListener("pointerup", () => { drag = null; });
    stage.canvas.addEventListener("keydown", (e) => { const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[e.key]; if (by) { turn += by[0]; tilt = Math.max(0.15, Math.min(1.5, tilt + by[1])); stage.redraw(); e.preventDefault(); } });
    views();
    const about = data.metadata || {};
    root.append(h("div", { class: "bar" }, h("label", {}, about.unit === "epoch" ? "Epochs" : "Steps", picker(choices.map(([, text], i) => [String(i), text]), String(at), (v) => { state.set("part", v, true); root.replaceChildren(); this.show(root, run); }, "Part")), view, h("span", { class: "count" }, `loss ${short(low)} to ${short(high)}${log ? ", colours logarithmic" : ""} · ${about.decomposition || ""} · ${about.network || ""} ${about.optimizer || ""}`)), box);
    return {};
  },
};
