// A generated WebAssembly model in a browser or in Node: the C interface's functions over the module's memory.
//
//   const model = await Model.load(bytes);                    // of fetch(…) or readFile(…)
//   const [scores] = model.predict([image]);                  // Float32Arrays, one for each input
//
//   node model.mjs libnet-wasm32.wasm input.bin output.bin    // one run on a file of float32

/** What the C library asks of its host: nothing is needed, so everything is answered with an error. */
const host = new Proxy({}, { get: () => () => 52 });

export class Model {
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: host });
    return new Model(instance.exports);
  }

  constructor(c) {
    this.c = c;
    c._initialize?.();
    this.model = c.MSModelCreate();
    const status = c.MSModelBuild(this.model, 0, 0, 0, 0);
    if (status !== 0) throw new Error(`MSModelBuild failed: ${status}`);
    this.inputs = this.#handles("MSModelGetInputs");
    this.outputs = this.#handles("MSModelGetOutputs");
  }

  /** Structures come back through a place that the caller gives: here, below the stack. */
  #handles(name) {
    const place = this.c.__stack_pointer ? this.c.__stack_pointer.value - 64 : this.#scratch();
    this.c[name](place, this.model);
    const view = new DataView(this.c.memory.buffer);
    const count = view.getUint32(place, true), items = view.getUint32(place + 4, true);
    return Array.from({ length: count }, (_, n) => view.getUint32(items + 4 * n, true));
  }

  #scratch() {
    this.place ??= this.c.memory.grow(1) * 65536; // a page of our own
    return this.place;
  }

  #floats(tensor) {
    return new Float32Array(this.c.memory.buffer, this.c.MSTensorGetMutableData(tensor), this.c.MSTensorGetDataSize(tensor) / 4);
  }

  predict(arrays) {
    arrays.forEach((array, n) => {
      const own = this.#floats(this.inputs[n]);
      if (own.length !== array.length) throw new Error(`input ${n} has ${own.length} elements, not ${array.length}`);
      own.set(array);
    });
    const place = this.#scratch(), view = new DataView(this.c.memory.buffer);
    view.setUint32(place, this.inputs.length, true);
    view.setUint32(place + 4, place + 64, true);
    this.inputs.forEach((tensor, n) => view.setUint32(place + 64 + 4 * n, tensor, true));
    const status = this.c.MSModelPredict(this.model, place, place + 16, 0, 0);
    if (status !== 0) throw new Error(`MSModelPredict failed: ${status}`);
    return this.outputs.map((tensor) => this.#floats(tensor).slice());
  }
}

if (typeof process !== "undefined" && process.argv[1]?.endsWith("model.mjs")) {
  const { readFile, writeFile } = await import("node:fs/promises");
  const [path, input, output] = process.argv.slice(2);
  const model = await Model.load(await readFile(path));
  const data = await readFile(input);
  const x = new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  const start = performance.now();
  const [y] = model.predict([x]);
  console.log(`${(performance.now() - start).toFixed(2)} ms`);
  await writeFile(output, Buffer.from(y.buffer));
}
