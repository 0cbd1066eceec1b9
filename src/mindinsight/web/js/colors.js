// Colours that people with colour-blindness can tell apart: Okabe and Ito's, in three lightnesses; cividis for numbers.
// Lines need contrast to the ground: on a dark one they are lighter, and the end of the scale that would sink into it is left out.
const BASE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7a5bb5", "#8a8a00"];

function shade(hex, amount) {
  const parts = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return "#" + parts.map((p) => Math.round(amount > 0 ? p + (255 - p) * amount : p * (1 + amount)).toString(16).padStart(2, "0")).join("");
}
const palette = (amounts) => amounts.flatMap((amount) => BASE.map((color) => shade(color, amount)));
const LIGHT = palette([0, -0.32, 0.34]), DARK = palette([0.22, 0.55, -0.1]);
const dark = () => document.documentElement.classList.contains("dark");

export function categorical(index) { const colors = dark() ? DARK : LIGHT; return colors[index % colors.length]; }

const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
// A number between 0 and 1 as the colour of a line, and the scale of these for a legend.
export function hue(share) { return scaled(dark() ? 0.3 + 0.7 * share : 0.86 * share); }
export function gradient() { return "linear-gradient(90deg," + Array.from({ length: 10 }, (_, i) => hue(i / 9)).join(",") + ")"; }
export function scaled(share) {
  const place = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1), low = Math.floor(place), rest = place - low;
  const a = CIVIDIS[low], b = CIVIDIS[Math.min(low + 1, CIVIDIS.length - 1)];
  return "#" + [1, 3, 5].map((i) => Math.round(parseInt(a.slice(i, i + 2), 16) * (1 - rest) + parseInt(b.slice(i, i + 2), 16) * rest).toString(16).padStart(2, "0")).join("");
}
export function rgb(share) { const c = scaled(share); return [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)); }
// below and above zero: blue and orange, readable for all
export function diverging(share) {
  const s = Math.max(-1, Math.min(1, share)), to = s < 0 ? [0, 90, 181] : [220, 90, 0];
  return to.map((c) => Math.round(250 + (c - 250) * Math.abs(s)));
}
