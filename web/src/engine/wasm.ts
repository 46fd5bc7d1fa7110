// The engine as WebAssembly in a worker from a Blob URL, which also works in a single file and from file://.
import { unpack } from "./instance.ts";
import { type Answers, decode, type Engine, EngineFailure, type Frame, type Request } from "./protocol.ts";

/** The worker's program, put here by the build. */
declare const WORKER_SOURCE: string;

interface Reply {
  id: number;
  frame?: ArrayBuffer;
  failed?: string;
}

interface Waiting {
  resolve: (frame: ArrayBuffer) => void;
  reject: (error: Error) => void;
}

const CLOSED = "the engine was closed";

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles the module once for all workers of the page. */
async function module(base64: string): Promise<WebAssembly.Module> {
  compiled ??= unpack(base64).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}

/** Makes an engine in a worker of its own. A failed worker is replaced at the next request. */
export function wasmEngine(base64: string): Engine {
  let worker: Worker | undefined;
  let next = 0;
  let closed = false;
  const waiting = new Map<number, Waiting>();

  function fail(message: string): void {
    worker?.terminate();
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new EngineFailure(message));
    waiting.clear();
  }

  async function start(): Promise<Worker> {
    const program = await module(base64);
    if (closed) throw new EngineFailure(CLOSED);
    if (worker) return worker;
    const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
    const started = new Worker(url);
    URL.revokeObjectURL(url);
    started.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
      if (data.failed !== undefined) return fail(`the engine stopped in the middle of a step: ${data.failed}`);
      waiting.get(data.id)?.resolve(data.frame!);
      waiting.delete(data.id);
    });
    started.addEventListener("error", (event) =>
      fail(`the engine's worker failed: ${event.message || "no reason given"}`),
    );
    started.postMessage({ module: program });
    worker = started;
    return started;
  }

  return {
    kind: "wasm",
    async ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
      const started = await start();
      const id = next++;
      const frame = await new Promise<ArrayBuffer>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        started.postMessage({ id, request: JSON.stringify(request) });
      });
      return decode(frame);
    },
    close() {
      closed = true;
      fail(CLOSED);
    },
  };
}
