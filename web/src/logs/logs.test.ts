import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { figureOf, KINDS, labelled, thinned } from "./figures.ts";
import { readLogs } from "./read.ts";

/** The examples of other stacks, which the Python tests read, too. */
const EXAMPLES = new URL("../../../python/tests/data/qlog/", import.meta.url);
const example = (name: string) => readLogs(name, readFileSync(new URL(name, EXAMPLES), "utf8"));
const round = (points?: { x: number[]; y: number[] }) =>
  points?.x.map((time, at) => [Number(time.toFixed(9)), Number(points.y[at]!.toFixed(9))]);

/** Of each example: packets sent, losses, windows, smoothed round-trip times, states. */
const STACKS: { [name: string]: unknown[] } = {
  "quic-go.sqlog": [[[0.0003, 1252], [0.031, 1280]], [0.062], [[0.0002, 40960]], [[0.0002, 0], [0.03075, 0.03045]], ["slow_start", "recovery"]],
  "quiche.sqlog": [[[0.0005104, 1200]], [], [[0.0005104, 13500], [0.02125, 14700]], [[0.0005104, 0.333], [0.02125, 0.0207]], []],
  "aioquic.qlog": [[[0, 1280]], [], [[0, 12800], [0.05, 14080]], [[0.05, 0.05]], []],
  "mvfst.qlog": [[[0.0004, 1252]], [0.06], [[0.000401, 12520]], [[0.0254, 0.025]], ["Hystart"]],
  "picoquic.qlog": [[[0.00018, 1252]], [0.09], [[0.00015, 15360]], [[0.00015, 0.25]], []],
  "quinn.sqlog": [[[0.00075, 1200]], [0.012], [[0.0116, 12000]], [[0.0116, 0.0107]], []],
  "delta.qlog": [[[0.001, 1000], [0.003, 1000]], [], [[0.0035, 20000]], undefined, []],
}; // biome-ignore format: a row for each stack

test("logs of other stacks become points", () => {
  assert.deepEqual(readdirSync(EXAMPLES).sort(), Object.keys(STACKS).sort());
  for (const [name, expected] of Object.entries(STACKS)) {
    const [log, ...others] = example(name);
    const { sent, lost, metrics, states } = log!;
    const found = [round(sent), lost.map((time) => Number(time.toFixed(9))), round(metrics["congestion_window"])];
    assert.deepEqual([...found, round(metrics["smoothed_rtt"]), states.map(({ state }) => state)], expected, name);
    assert.equal(others.length, 0);
  }
});

test("what is no log is refused in one sentence that names the file", () => {
  const head = '{"qlog_version":"0.3","traces":[';
  const refused: [text: string, message: string][] = [
    ["", "is empty"],
    ["hello", "is no qlog: it is not JSON: "],
    ["{}", "is no qlog: it has neither file_schema (current) nor qlog_version (0.3) at its top"],
    ['{"qlog_version":"0.3"}', "has no list of traces"],
    [`${head}]}`, "has no trace"],
    [`${head}{}]}`, "trace 1 has no list of events"],
    [
      `${head}{"events":[{"time":1,"name":"a:b"},{"name":"a:b"}]}]}`,
      "trace 1, event 2: the time undefined is no number",
    ],
    [`${head}{"events":[{"time":true,"name":"a:b"}]}]}`, "trace 1, event 1: the time true is no number"],
    ['\u001e{"qlog_version":"0.3"}\n\u001e{"time":\n\u001e{"time":1,"name":"a"}\n', "record 2 is not JSON"],
    ["\u001e{}\n", "is no qlog: its first record has neither file_schema nor qlog_version"],
  ];
  for (const [text, message] of refused) {
    assert.throws(
      () => readLogs("x.qlog", text),
      (error: Error) => error.message.startsWith(`x.qlog: ${message}`) && !error.message.includes("\n"),
      text,
    );
  }
});

test("a log that ends within a record is read up to there", () => {
  const text = readFileSync(new URL("quiche.sqlog", EXAMPLES), "utf8");
  assert.equal(readLogs("x.sqlog", text.slice(0, -30))[0]!.metrics["congestion_window"]!.x.length, 2);
});

test("figures have a series for each log, with its losses and the times of its recovery", () => {
  const logs = labelled([...example("quic-go.sqlog"), ...example("quinn.sqlog")]);
  assert.deepEqual([...logs.keys()], ["quic-go", "quinn"]);
  const [window, rtt, pacing, sent] = KINDS.map((kind) => figureOf(kind, logs).panels[0]!.series!);
  const names = (series: { name: string }[]) => series.map(({ name }) => name);
  assert.deepEqual(
    names(window!),
    ["", ", in flight", ", recovery", ", lost"]
      .map((word) => `quic-go${word}`)
      .concat(["quinn", "quinn, in flight", "quinn, lost"]),
  );
  assert.deepEqual(window!.find(({ name }) => name === "quic-go")!.y, [40.96]);
  assert.deepEqual(new Set(window!.filter(({ group }) => group === "quinn").map(({ colour }) => colour)), new Set([1]));
  assert.deepEqual(names(rtt!), ["quic-go", "quic-go, smoothed", "quinn", "quinn, smoothed"]);
  assert.deepEqual(pacing, []);
  assert.deepEqual(sent![0]!.y, [0.001252, 0.002532]);
});

test("a recovery is a band below the window, from its begin to its end", () => {
  const log = {
    ...{ file: "x.qlog", title: "x", sent: { x: [], y: [] }, lost: [] },
    metrics: { congestion_window: { x: [0, 1, 2, 3, 4], y: [10e3, 20e3, 15e3, 10e3, 11e3] } },
    states: [
      { time: 0, state: "slow_start" },
      { time: 1.5, state: "recovery" },
      { time: 3, state: "congestion_avoidance" },
    ],
  };
  const series = figureOf(KINDS[0]!, labelled([log])).panels[0]!.series!;
  const { x, y, high, low } = series.find(({ name }) => name === "x, recovery")!;
  assert.deepEqual(
    [x, y],
    [
      [1.5, 2, 3, 3, 3],
      [20, 15, 10, 10, null],
    ],
  );
  assert.deepEqual(
    [low, high],
    [
      [0, 0, 0, 0, 0],
      [20, 15, 10, 10, 0],
    ],
  );
});

test("a thinned curve keeps its ends and extremes", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 400 }), (y) => {
      const points = { x: y.map((_, at) => at / 7), y };
      const found = thinned(points, 10);
      assert.ok(found.x.length <= 40);
      assert.deepEqual([found.x[0], found.x.at(-1)], [points.x[0], points.x.at(-1)]);
      assert.deepEqual([Math.min(...found.y), Math.max(...found.y)], [Math.min(...y), Math.max(...y)]);
      assert.ok(found.x.every((time, at) => at === 0 || time > found.x[at - 1]!));
    }),
  );
});
