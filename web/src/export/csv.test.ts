import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { nativeEngine, python } from "../scenario/native.ts";
import { csv, traceCsv } from "./csv.ts";

const engine = nativeEngine();
after(() => engine.close());

const SCENARIO = `duration = "3 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", queue = { kind = "red", limit = "40 packets", mean_packet = "1000 B" } }
[[flow]]
name = 'a "b", c'
ecn = true
[[flow]]
name = "later"
start = "250 ms"
profile = "modern"
slow_start = "hystart"
`;
const TRACES = [
  "cwnd",
  "delivered",
  "queue",
  "drops",
  "marks",
  "sojourn",
  "discipline",
  "sequence",
  "rtt",
  "recovery",
  "internals",
];

/** The traces as Python writes them. */
const PROGRAM = `
import json, sys, tomllib
import ackclock, polars
document = tomllib.loads(sys.stdin.read())
result = ackclock.run(ackclock.Scenario(**document, record=sys.argv[1:]))
print(json.dumps({name: polars.DataFrame(result.trace(name)).write_csv() for name in sys.argv[1:]}))
`;

/** The cells of simple CSV. */
const cells = (text: string): string[][] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
    );

const asNumber = (cell: string): number | string =>
  cell === "inf" ? Infinity : cell === "" || Number.isNaN(Number(cell)) ? cell : Number(cell);

test("every trace has the rows and columns that Python gives", async () => {
  const answer = execFileSync(python, ["-c", PROGRAM, ...TRACES], {
    input: SCENARIO,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const expected = JSON.parse(answer) as Record<string, string>;
  for (const trace of TRACES) {
    const pieces = await traceCsv(engine, { text: SCENARIO, trace });
    assert.ok(pieces, trace);
    const [made, wanted] = [cells(pieces.join("")), cells(expected[trace]!)];
    assert.equal(made.length, wanted.length, trace);
    assert.ok(trace === "internals" || made.length > 1, trace);
    assert.deepEqual(
      made.map((row) => row.map(asNumber)),
      wanted.map((row) => row.map(asNumber)),
      trace,
    );
  }
});

test("a stopped run gives no file", async () => {
  const stop = new AbortController();
  stop.abort();
  assert.equal(await traceCsv(engine, { text: SCENARIO, trace: "cwnd", signal: stop.signal }), undefined);
});

test("without an answer there are no pieces", () => {
  assert.deepEqual(
    csv([], "cwnd", { name: "", duration: 1, seed: 1, flows: [], links: [], bottleneck: null, record: [] }),
    [],
  );
});
