// Which engine this page has: WebAssembly if `engine.js` is there, else the server that gave the page.
import { httpEngine } from "./http.ts";
import type { Engine } from "./protocol.ts";
import { wasmEngine } from "./wasm.ts";

declare global {
  /** Base64 of the gzip of the engine's WebAssembly; `engine.js` sets it. */
  var ackclockEngine: string | undefined;
}

/** Makes one more engine of the kind that the page has; undefined if it has none. */
export async function connect(): Promise<(() => Engine) | undefined> {
  const base64 = globalThis.ackclockEngine;
  if (base64) return () => wasmEngine(base64);
  if (!location.protocol.startsWith("http")) return undefined;
  const trial = httpEngine();
  try {
    await trial.ask({ do: "describe" });
    return () => httpEngine();
  } catch {
    return undefined;
  }
}
