// The WebAssembly module without a worker: its C ABI as one function. The worker and the tests use it.

/** What the module exports; `crates/web/src/abi.rs` documents it. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  handle(pointer: number, length: number): number;
  result_length(): number;
  release(): void;
}

/** Makes an engine from the module: a function from a request's JSON to the bytes of a frame. */
export async function instantiate(module: WebAssembly.Module): Promise<(request: string) => Uint8Array<ArrayBuffer>> {
  const instance = await WebAssembly.instantiate(module, {});
  const engine = instance.exports as unknown as Exports;
  return (request) => {
    const bytes = new TextEncoder().encode(request);
    const pointer = engine.allocate(bytes.length);
    new Uint8Array(engine.memory.buffer, pointer, bytes.length).set(bytes);
    const answer = engine.handle(pointer, bytes.length);
    const frame = new Uint8Array(engine.memory.buffer, answer, engine.result_length()).slice();
    engine.release();
    return frame;
  };
}

/** Decodes the base64 of a gzip, as `engine.js` has it. */
export async function unpack(base64: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
