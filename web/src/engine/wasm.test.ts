import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { EngineFailure } from "./protocol.ts";
import { frame } from "./testing.ts";
import { wasmEngine } from "./wasm.ts";

/** The empty module. */
const MODULE = gzipSync(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)).toString("base64");

/** Answer of the next requests: a header, a failure of the engine, or the death of the worker. */
let behaviour: "answer" | "trap" | "die" = "answer";
const workers: FakeWorker[] = [];

/** A worker that answers as `behaviour` says. */
class FakeWorker extends EventTarget {
  terminated = false;
  constructor() {
    super();
    workers.push(this);
  }
  postMessage({ id, request }: { id?: number; request?: string }): void {
    if (request === undefined) return;
    queueMicrotask(() => {
      if (behaviour === "die") this.dispatchEvent(Object.assign(new Event("error"), { message: "out of memory" }));
      else if (behaviour === "trap") this.#reply({ id, failed: "Error: index out of bounds" });
      else this.#reply({ id, frame: frame({ text: request }).buffer });
    });
  }
  terminate(): void {
    this.terminated = true;
  }
  #reply(data: object): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }
}

Object.assign(globalThis, { Worker: FakeWorker, WORKER_SOURCE: "" });
URL.createObjectURL = () => "blob:";
afterEach(() => {
  behaviour = "answer";
  workers.length = 0;
});

for (const [kind, message] of [
  ["trap", /stopped in the middle of a step: Error: index out of bounds/],
  ["die", /worker failed: out of memory/],
] as const) {
  test(`after a worker's ${kind}, every waiting request fails, and the next has a new worker`, async () => {
    const engine = wasmEngine(MODULE);
    await engine.ask({ do: "describe" });
    behaviour = kind;
    const waiting = [engine.ask({ do: "check", text: "a" }), engine.ask({ do: "check", text: "b" })];
    for (const ended of await Promise.allSettled(waiting)) {
      assert.equal(ended.status, "rejected");
      assert.ok(ended.reason instanceof EngineFailure);
      assert.match(ended.reason.message, message);
    }
    assert.deepEqual(
      workers.map(({ terminated }) => terminated),
      [true],
    );
    behaviour = "answer";
    assert.ok((await engine.ask({ do: "check", text: "c" })).header);
    assert.equal(workers.length, 2);
  });
}

test("a closed engine ends its worker", async () => {
  const engine = wasmEngine(MODULE);
  await engine.ask({ do: "describe" });
  const waiting = engine.ask({ do: "check", text: "a" });
  engine.close();
  await assert.rejects(waiting, /was closed/);
  assert.ok(workers[0]!.terminated);
});
