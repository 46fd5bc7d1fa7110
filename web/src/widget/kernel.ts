// The engines of a widget: WebAssembly in the browser, or the kernel behind the same requests and frames.
import { type Answers, decode, type Engine, EngineFailure, type Frame, type Request } from "../engine/protocol.ts";
import { wasmEngine } from "../engine/wasm.ts";
import type { Message, Model } from "./model.ts";

/** Milliseconds for which the kernel may be busy before the widget says so. */
const PATIENCE = 5_000;

/** Makes an engine that asks the kernel by messages. */
export function kernelEngine(model: Model): Engine {
  // Several views of a widget share its messages.
  const own = Math.random().toString(36).slice(2);
  const waiting = new Map<string, { resolve: (frame: Uint8Array) => void; reject: (error: Error) => void }>();
  let next = 0;
  const receive = (message: Message, buffers: DataView[]) => {
    if (message.kind !== "frame") return;
    const [frame] = buffers;
    if (frame) waiting.get(message.id)?.resolve(new Uint8Array(frame.buffer, frame.byteOffset, frame.byteLength));
    else waiting.get(message.id)?.reject(new EngineFailure("the kernel's answer has no frame"));
    waiting.delete(message.id);
  };
  model.on("msg:custom", receive);
  return {
    kind: "kernel",
    async ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
      const id = `${own} ${next++}`;
      const frame = await new Promise<Uint8Array>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        model.send({ kind: "request", id, request });
      });
      return decode(frame);
    },
    close() {
      model.off("msg:custom", receive);
      for (const { reject } of waiting.values()) reject(new EngineFailure("the engine was closed"));
      waiting.clear();
    },
  };
}

/**
 * Returns a function that makes engines: WebAssembly if the kernel has the module and the browser runs it, otherwise the kernel.
 *
 * `onWait` is called if the kernel does not answer soon.
 */
export async function engines(model: Model, onWait: () => void): Promise<() => Engine> {
  if (model.get("_options").engine === "kernel") return () => kernelEngine(model);
  const timer = setTimeout(onWait, PATIENCE);
  const base64 = await new Promise<string | null>((resolve) => {
    const receive = (message: Message) => {
      if (message.kind !== "engine") return;
      model.off("msg:custom", receive);
      resolve(message.base64);
    };
    model.on("msg:custom", receive);
    model.send({ kind: "engine" });
  });
  clearTimeout(timer);
  if (base64 === null) return () => kernelEngine(model);
  // Some hosts of notebooks forbid workers from a Blob, or WebAssembly.
  const trial = wasmEngine(base64);
  try {
    await trial.ask({ do: "edit", text: "", set: [] });
    return () => wasmEngine(base64);
  } catch {
    return () => kernelEngine(model);
  } finally {
    trial.close();
  }
}
