import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdvanceAnswer, decode, EngineFailure, Refused } from "./protocol.ts";
import { frame } from "./testing.ts";

const columns = new Uint8Array(40);
new Float64Array(columns.buffer, 0, 2).set([0.5, Number.NaN]);
new Uint32Array(columns.buffer, 16, 2).set([3, 4_000_000_000]);
columns.set([1, 0], 24);
const table = {
  rows: 2,
  columns: [
    { name: "time", type: "f64", offset: 0 },
    { name: "flow", type: "u32", offset: 16 },
    { name: "kind", type: "u8", offset: 24, words: ["send", "ack"] },
  ],
};

test("decodes header and columns of every type", () => {
  const answer = decode<AdvanceAnswer>(frame({ run: 1, tables: { sequence: table } }, columns));
  const place = answer.header.tables["sequence"]!;
  const { time, flow, kind } = answer.columns(place);
  assert.deepEqual([...time!], [0.5, Number.NaN]);
  assert.deepEqual([...flow!], [3, 4_000_000_000]);
  assert.deepEqual(
    [...kind!].map((code) => place.columns[2]!.words![code]),
    ["ack", "send"],
  );
});

test("decodes a frame that begins anywhere in its buffer", () => {
  const bytes = frame({ tables: { sequence: table } }, columns);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  const answer = decode<AdvanceAnswer>(shifted.subarray(3));
  assert.equal(answer.columns(answer.header.tables["sequence"]!)["time"]![0], 0.5);
});

test("an error becomes Refused with its problems", () => {
  const problems = [{ line: 3, column: null, key: "flow.slow_start", message: "unknown slow start `fast`" }];
  assert.throws(
    () => decode(frame({ error: { text: "line 3: …", problems } })),
    (error: Refused) => error instanceof Refused && error.problems[0]!.line === 3 && error.message === "line 3: …",
  );
});

test("bytes that are no frame are a failure of the engine", () => {
  assert.throws(() => decode(new Uint8Array(2)), EngineFailure);
  assert.throws(() => decode(frame({ a: 1 }).subarray(0, 8)), /ends after 8 bytes, within its header of 7/);
  const broken = frame({ a: 1 });
  broken[4] = 0x78;
  assert.throws(() => decode(broken), /not JSON/);
});
