import assert from "node:assert/strict";
import { test } from "node:test";
import { EngineFailure, Refused, type Request } from "./protocol.ts";
import { run } from "./run.ts";
import { fakeEngine } from "./testing.ts";

const scenario = { name: "x", duration: 10, seed: 1, flows: ["a"], links: [], bottleneck: null, record: [] };

/** An engine whose run takes `steps` calls. */
function engineOf(steps: number, fail?: (request: Request) => void) {
  let left = steps;
  return fakeEngine((request) => {
    fail?.(request);
    switch (request.do) {
      case "open":
        return { run: 7, scenario };
      case "advance":
        left -= 1;
        return { run: 7, time: (10 * (steps - left)) / steps, duration: 10, events: 0, done: left === 0, tables: {} };
      case "finish":
        return { summary: { scenario: "x" }, digest: "d" };
      default:
        return {};
    }
  });
}

test("a run advances until it is done, and finishes", async () => {
  const engine = engineOf(3);
  const seen: number[] = [];
  const finished = await run(engine, "text", { record: ["cwnd"], onProgress: (time) => seen.push(time) });
  assert.equal(finished?.digest, "d");
  assert.equal(seen.at(-1), 10);
  assert.deepEqual(
    engine.asked.map((request) => request.do),
    ["open", "advance", "advance", "advance", "finish"],
  );
  assert.deepEqual(engine.asked[0], { do: "open", text: "text", record: ["cwnd"] });
});

test("whoever wants the path gets it before the first row", async () => {
  const engine = engineOf(1);
  await run(engine, "text", { onPath: () => undefined });
  assert.deepEqual(
    engine.asked.map((request) => request.do),
    ["open", "path", "advance", "finish"],
  );
});

test("a stopped run is closed, and reports no end", async () => {
  const engine = engineOf(100);
  const abort = new AbortController();
  const finished = await run(engine, "text", { signal: abort.signal, onRows: () => abort.abort() });
  assert.equal(finished, undefined);
  assert.deepEqual(
    engine.asked.map((request) => request.do),
    ["open", "advance", "close"],
  );
});

test("a run that was stopped before it began asks nothing", async () => {
  const engine = engineOf(1);
  assert.equal(await run(engine, "text", { signal: AbortSignal.abort() }), undefined);
  assert.equal(engine.asked.length, 0);
});

test("a refused scenario opens nothing, and closes nothing", async () => {
  const engine = fakeEngine(() => ({ error: { text: "no duration", problems: [] } }));
  await assert.rejects(run(engine, "text"), (error) => error instanceof Refused && error.message === "no duration");
  assert.equal(engine.asked.length, 1);
});

test("a failure in the middle is the caller's error, and the run is closed", async () => {
  const engine = engineOf(5, (request) => {
    if (request.do === "advance") throw new EngineFailure("trap");
  });
  await assert.rejects(run(engine, "text"), /trap/);
  assert.equal(engine.asked.at(-1)?.do, "close");
});
