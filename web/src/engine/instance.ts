// The WebAssembly module without a worker, as one function. The worker and the tests use it.

/** What the module exports; `crates/web/src/lib.rs` documents it. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  handle(): number;
  result_length(): number;
  release(): void;
  failure(): number;
  failure_length(): number;
}

/** Makes an engine from the module: a function from a request's JSON to the bytes of a frame. */
export async function instantiate(module: WebAssembly.Module): Promise<(request: string) => Uint8Array<ArrayBuffer>> {
  const instance = await WebAssembly.instantiate(module, {});
  const engine = instance.exports as unknown as Exports;
  // Above 2 GiB, addresses arrive as negative numbers.
  const at = (address: number, length: number) => new Uint8Array(engine.memory.buffer, address >>> 0, length >>> 0);
  return (request) => {
    const bytes = new TextEncoder().encode(request);
    try {
      at(engine.allocate(bytes.length), bytes.length).set(bytes);
      const answer = engine.handle();
      const frame = at(answer, engine.result_length()).slice();
      engine.release();
      return frame;
    } catch (trap) {
      const message = new TextDecoder().decode(at(engine.failure(), engine.failure_length()));
      throw new Error(message || String(trap));
    }
  };
}

/** Decodes the base64 of compressed bytes: of a gzip, as `engine.js` has it, or of zlib. */
export async function unpack(base64: string, format: CompressionFormat = "gzip"): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).arrayBuffer();
}
