// Talking to the server: JSON, points as bytes, and the stream of changes.
const BASE = new URL("v1/mindinsight/", document.baseURI).href;

export class ApiError extends Error {}

async function answer(response) {
  if (response.ok) return response;
  let text = response.statusText;
  try { text = (await response.json()).error_msg || text; } catch { /* the reply is no JSON */ }
  throw new ApiError(text);
}

export function address(path, query) {
  const url = new URL(path, BASE);
  for (const [key, value] of Object.entries(query || {})) if (value !== undefined && value !== null) url.searchParams.set(key, value);
  return url.href;
}

export async function get(path, query) { return (await answer(await fetch(address(path, query)))).json(); }

export async function post(path, body, query, method = "POST") {
  const response = await fetch(address(path, query), { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return (await answer(response)).json();
}

// Points of one tag: a map from run to { steps, seconds, values, begin }.
export async function points(tag, runs, most, window) {
  const body = { tag, runs, most };
  if (window) [body.from, body.to] = window;
  const response = await answer(await fetch(address("board/points"), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
  const data = await response.arrayBuffer();
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))).runs;
  const total = head.reduce((sum, [, count]) => sum + count, 0);
  let at = 4 + length;
  const steps = new Float64Array(data, at, total); at += 8 * total;
  const seconds = new Float32Array(data, at, total); at += 4 * total;
  const values = new Float32Array(data, at, total);
  const found = new Map();
  let first = 0;
  for (const [run, count, begin] of head) {
    const last = first + count;
    found.set(run, { steps: steps.subarray(first, last), seconds: seconds.subarray(first, last), values: values.subarray(first, last), begin });
    first = last;
  }
  return found;
}

export function listen(since, changed, state) {
  const source = new EventSource(address("board/live", { since }));
  source.onopen = () => state(true);
  source.onerror = () => state(false);
  source.onmessage = (event) => changed(JSON.parse(event.data));
  return source;
}
