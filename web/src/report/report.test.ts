import assert from "node:assert/strict";
import { test } from "node:test";
import { type Recorded, Recording } from "../charts/recording.ts";
import type { FlowSummary, ScenarioInfo } from "../engine/protocol.ts";
import { decode } from "../engine/protocol.ts";
import { frame } from "../engine/testing.ts";
import { curve } from "./curves.ts";
import type { Curves, RunData } from "./data.ts";
import { numberOf, sameAsStored } from "./numbers.ts";

/** A recording of one flow from rows of a trace; words are codes. */
function recorded(trace: string, duration: number, columns: { [name: string]: number[] }, words?: string[]): Recording {
  const info = { duration, flows: ["a"], links: [] } as unknown as ScenarioInfo;
  const rows = columns["time"]!.length;
  const none = columns["time"]!.map(() => 0);
  const all: { [name: string]: number[] } = { flow: none, ssthresh: none, ...columns };
  const bytes = new Float64Array(Object.values(all).flat());
  const places = Object.keys(all).map((name, at) => ({
    name,
    type: "f64",
    offset: 8 * rows * at,
    ...(name === "name" && { words }),
  }));
  const header = { time: duration, tables: { [trace]: { rows, columns: places } } };
  const recording = new Recording(info);
  recording.add(decode(frame(header, new Uint8Array(bytes.buffer))));
  return recording;
}

const curves = (kind: Curves["kind"], more: Partial<Curves> = {}): Curves => ({
  ...{ kind, bin: null, end: null, sampled: null, runs: [] },
  ...more,
});

test("throughput is binned as in the stored figures, and ends with its last bin", () => {
  const recording = recorded("delivered", 2, { time: [0.5, 1, 2], bytes: [125_000, 250_000, 500_000] });
  const found = curve(recording, curves("throughput", { bin: 1 }), 0, "");
  assert.deepEqual(found, { x: [0, 1, 2], y: [2, 2, 2], style: "step" });
});

test("a sampled curve is the median of its samples, and unknown before its first value", () => {
  const found = curve(
    recorded("cwnd", 100, { time: [50, 75], cwnd: [10, 20] }),
    curves("cwnd", { sampled: 10 }),
    0,
    "",
  )!;
  assert.equal(found.x.length, 50);
  assert.deepEqual([found.x[0], found.y[0], found.y[24], found.y[25], found.y.at(-1)], [1, null, null, 10, 20]);
  const steps = Array.from({ length: 100 }, (_, at) => at);
  const teeth = recorded("cwnd", 100, { time: steps, cwnd: steps.map((at) => at % 2) });
  const band = curve(teeth, curves("cwnd", { sampled: 10 }), 0, "")!;
  assert.deepEqual([band.low![10], band.high![10]], [0, 1]);
});

test("an internal quantity is drawn by its name, and a flow without samples is not", () => {
  const columns = { time: [0, 1, 1], name: [0, 1, 0], value: [5, 7, 6] };
  const recording = recorded("internals", 2, columns, ["bwe", "other"]);
  const found = curve(recording, curves("internals"), 0, "bwe")!;
  assert.deepEqual([found.y[2], found.y.at(-1), Math.max(...(found.y as number[]))], [5, 6, 6]);
  assert.equal(curve(recording, curves("internals"), 0, "missing"), undefined);
  assert.equal(curve(recording, curves("rtt"), 0, ""), undefined);
});

test("every stored number of the engine is compared", () => {
  const exit = { reason: "loss", time: 1, cwnd: 8, ratio: null };
  const row = { name: "a", goodput_bps: 8e6, completion_time: null, slow_start_exit: exit } as unknown as FlowSummary;
  assert.deepEqual(
    ["goodput_bps", "slow_start_exit_cwnd", "slow_start_exit_ratio", "jain"].map((column) => numberOf(row, column)),
    [8e6, 8, null, null],
  );
  const done = { summary: { flows: [row] } } as unknown as Recorded;
  const press = { results: new Map([[0, [done]]]), chosen: [0], number: 1, tag: "run 1" };
  const stored = (values: { [column: string]: number | null }) =>
    sameAsStored({ cells: [{ stored: { a: values, b: { goodput_bps: 1 } } }] } as unknown as RunData, press);
  assert.equal(stored({ goodput_bps: 8e6, completion_time: null }), "All 2 stored numbers of this run are equal.");
  assert.match(
    stored({ goodput_bps: 8e6, slow_start_exit_cwnd: 9 }),
    /^1 stored .* different: slow_start_exit_cwnd\.$/,
  );
});
