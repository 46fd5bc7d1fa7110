// The decoder with answers of the engine itself, if `make web` has built it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Recording, TRACES } from "../charts/recording.ts";
import { instantiate, unpack } from "./instance.ts";
import { type Answers, decode, type Engine, type Frame, Refused, type Request } from "./protocol.ts";
import { run } from "./run.ts";

const file = new URL("../../../python/ackclock/data/page/engine.js", import.meta.url);
const base64 = existsSync(file) ? /"([A-Za-z0-9+/=]+)"/.exec(readFileSync(file, "utf8"))?.[1] : undefined;
const skip = base64 ? false : "engine.js was not built: make web";

async function engine(): Promise<Engine> {
  const handle = await instantiate(await WebAssembly.compile(await unpack(base64!)));
  return {
    kind: "wasm",
    ask: async <R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> =>
      decode(handle(JSON.stringify(request))),
    close() {},
  };
}

const TEXT = 'duration = "5 s"\n[flow]\n';

test("describe knows parts, traces and the schema", { skip }, async () => {
  const { header } = await (await engine()).ask({ do: "describe" });
  assert.ok(header.parts["slow_start"]!.some(({ name }) => name === "standard"));
  for (const trace of TRACES) assert.ok(header.traces[trace]!.columns.some(({ name }) => name === "time"));
});

test("a fault names its line", { skip }, async () => {
  await assert.rejects(
    (await engine()).ask({ do: "check", text: 'duration = "5 s"\n[flow]\nslow_strat = "standard"\n' }),
    (error) => error instanceof Refused && error.problems[0]!.line === 3,
  );
});

test("the rows of a run become series that agree with its summary", { skip }, async () => {
  let recording: Recording | undefined;
  const finished = await run(await engine(), TEXT, {
    record: TRACES,
    step: 0,
    onOpen: (scenario) => {
      recording = new Recording(scenario);
    },
    onRows: (frame) => recording!.add(frame),
  });
  const flow = finished!.summary.flows[0]!;
  assert.equal(recording!.series("delivered", 0)!.at(5), flow["delivered_bytes"]);
  assert.equal(recording!.series("cwnd", 0)!.at(5), flow["cwnd_final"]);
  const link = recording!.scenario.links.findIndex(({ name }) => name === recording!.scenario.bottleneck);
  assert.equal(recording!.series("drops", link)!.length, finished!.summary.links[link]!.drops);
  const queue = recording!.series("queue", link)!;
  assert.equal(queue.extremes(0, queue.length)![1], finished!.summary.links[link]!.queue_max);
});
