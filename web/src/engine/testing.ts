// An engine for tests: it answers as a table of functions says.
import { type Answers, decode, type Engine, type Frame, type Request } from "./protocol.ts";

/** Bytes of a frame, made by hand. */
export function frame(header: object, columns: Uint8Array = new Uint8Array(0)): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(start + columns.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(columns, start);
  return bytes;
}

/** An engine that records its requests. */
export function fakeEngine(answer: (request: Request) => object): Engine & { asked: Request[] } {
  const asked: Request[] = [];
  return {
    kind: "wasm",
    asked,
    async ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
      asked.push(request);
      // As with a worker, an answer comes in a later task.
      await new Promise((resolve) => setTimeout(resolve));
      return decode(frame(answer(request)));
    },
    close() {},
  };
}
