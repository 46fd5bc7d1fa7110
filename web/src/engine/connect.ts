// Which engine this page has: WebAssembly if `engine.js` is there, or the server that gave the page.
import { httpEngine } from "./http.ts";
import type { Engine } from "./protocol.ts";
import { wasmEngine } from "./wasm.ts";

declare global {
  /** Base64 of the gzip of the engine's WebAssembly; `engine.js` sets it. */
  var ackclockEngine: string | undefined;
}

/** What `ackclock serve` writes into the page. */
export interface Server {
  engine: "auto" | "wasm" | "native" | null;
  /** Token that every request to the engine carries. */
  session: string | null;
  /** The scenario with which the page opens. */
  name: string | null;
  text: string | null;
}

/** What the server wrote into the page; undefined for a file or a plain static host. */
export function served(): Server | undefined {
  const content = document.querySelector<HTMLMetaElement>('meta[name="ackclock-server"]')?.content;
  return content === undefined ? undefined : (JSON.parse(content) as Server);
}

/** Returns a function that makes an engine of the kind that the page has; undefined if it has none. */
export function connect(server: Server | undefined = served()): (() => Engine) | undefined {
  const base64 = globalThis.ackclockEngine;
  if (base64 && server?.engine !== "native") return () => wasmEngine(base64);
  const session = server?.session;
  if (session && server.engine !== "wasm") return () => httpEngine("engine", session);
  return undefined;
}
