import assert from "node:assert/strict";
import { test } from "node:test";
import { banded, curve, thinned } from "./curves.ts";
import { type Cell, type LiveData, textOf } from "./data.ts";
import { payloads, plain, readFrozen, within } from "./frozen.ts";
import { addSeries, type Figure, removeSeries } from "./host.ts";
import { measure, type Ran, tracesOf } from "./measures.ts";

const SCENARIO = `name = "two"
seed = 1

[topology]
kind = "explicit"

[[topology.link]]
from = "a"
to = "b"
rate = "1 Mbit/s"
queue = { kind = "droptail", limit = "5 packets" }
loss = "none"

[[flow]]
name = "page \\"one\\""
packet_size = "500 B"

[[flow]]
name = "bulk"
packet_size = "1000 B"
`;

test("a scenario with every default is read by its tables", () => {
  const { top, flows, links } = readFrozen(SCENARIO);
  assert.equal(top["seed"], "1");
  assert.equal(flows.length, 2);
  assert.equal(plain(flows[0]!["name"]), 'page "one"');
  assert.deepEqual(
    [within(links[0]!["queue"], "kind"), within(links[0]!["queue"], "limit")],
    ["droptail", "5 packets"],
  );
  assert.deepEqual([within(links[0]!["loss"], "kind"), within(links[0]!["loss"], "rate")], ["none", undefined]);
  assert.equal(payloads(SCENARIO)("bulk"), 1000);
  assert.equal(payloads(SCENARIO)('page "one".3'), 500);
  const arriving = `${SCENARIO}\n[[flow]]\npacket_size = "300 B"\n\n[[flow]]\nname = "web"\npacket_size = "200 B"\n`;
  assert.deepEqual(["flow2", "web12", "bulk"].map(payloads(arriving)), [300, 200, 1000]);
});

test("a repetition replaces lines of the stored run, or is a text of its own", () => {
  const data = { texts: ["a = 1\nb = 2", "other"] } as unknown as LiveData;
  const cell = { text: 0 } as Cell;
  assert.equal(textOf(data, cell), "a = 1\nb = 2");
  assert.equal(textOf(data, cell, ["seed 3", [[1, "b = 3"]]]), "a = 1\nb = 3");
  assert.equal(textOf(data, cell, ["seed 4", 1]), "other");
  assert.equal(textOf(data, cell), "a = 1\nb = 2");
});

function ran(traces: { [name: string]: { time: number[]; [column: string]: (number | string)[] } }): Ran {
  return {
    flows: [
      {
        name: "a",
        goodput_bps: 8e6,
        delivered_bytes: 100,
        slow_start_exit: { reason: "loss", time: 1, cwnd: 8, ratio: null },
      },
    ],
    links: [{ drops: 2 }, { drops: 3 }],
    transfers: [],
    pages: [],
    trace: (name) => traces[name],
    payload: () => 1000,
  };
}

test("spans count the bytes up to their end, and the mean of cwnd lasts until the next change", () => {
  const run = ran({
    delivered: { time: [1, 2, 3], bytes: [10, 20, 40] },
    cwnd: { time: [1, 3], cwnd: [10, 20] },
  });
  const measures = {
    spans: { late: [1, 3] as [number, number] },
    cwnd: { mean: [0, 4] as [number, number] },
    derived: [],
  };
  const row = measure(run, measures)[0]!;
  assert.deepEqual([row["late"], row["mean"], row["queue_drops"]], [30, (2 * 10 + 20) / 3, 5]);
  assert.deepEqual([row["slow_start_exit_cwnd"], row["slow_start_exit_ratio"], row.flow], [8, null, "a"]);
  assert.deepEqual(tracesOf(measures).sort(), ["cwnd", "delivered"]);
});

test("a measure of a flow without a trace is null", () => {
  const run = ran({});
  const row = measure(run, { spans: { late: [0, 1] }, cwnd: { mean: [0, 1] }, derived: ["rtt", "estimate"] })[0]!;
  assert.deepEqual([row["late"], row["mean"], row["rtt_mean"], row["bwe_mean"]], [0, null, null, null]);
});

test("throughput is binned as in the stored figures, and ends with its last bin", () => {
  const run = ran({ delivered: { time: [0.5, 1, 2], bytes: [125_000, 250_000, 500_000] } });
  const found = curve(run, "throughput", "a", { duration: 2, bin: 1, end: null, sampled: null, quantity: "" })!;
  assert.deepEqual(found, { x: [0, 1, 2], y: [2, 2, 2], step: true });
});

test("a thinned curve keeps the extremes of every bin", () => {
  const x = Array.from({ length: 100_000 }, (_, at) => at);
  const y = x.map((at) => (at === 54_321 ? 1000 : at === 54_322 ? -1000 : Math.sin(at)));
  const found = thinned({ x, y, step: true });
  assert.ok(found.x.length <= 2400);
  assert.ok(found.y.includes(1000) && found.y.includes(-1000));
  assert.deepEqual([found.x[0], found.x.at(-1)], [0, 99_999]);
});

test("a new series has the colour and place of the stored one, widens the axis, and goes again", () => {
  const stored = { name: "a", colour: 3, style: "joined", x: ["1"], y: [5] };
  const figure = {
    spec: {
      legend: [{ name: "a", colour: 3, style: "joined" }],
      panels: [{ title: "", y: { title: "", limits: [0, 6] }, series: [stored] }],
    },
  } as unknown as Figure;
  addSeries(figure, 0, "a", { name: "a, run 1", style: "again", x: ["1"], y: [10], again: 1 });
  const panel = figure.spec.panels[0]!;
  assert.deepEqual([panel.series![1]!.colour, panel.series![1]!.group, panel.y.limits![0]], [3, "a", 0]);
  assert.ok(panel.y.limits![1] > 10);
  assert.equal(figure.spec.legend.length, 2);
  removeSeries(figure);
  assert.deepEqual([panel.series, panel.y.limits, figure.spec.legend.length], [[stored], [0, 6], 1]);
});

test("a sampled curve is the median of its samples, and unknown before its first value", () => {
  const found = banded([50, 75], [10, 20], 100, 10);
  assert.equal(found.x.length, 50);
  assert.deepEqual([found.x[0], found.y[0], found.y[24], found.y[25], found.y.at(-1)], [1, null, null, 10, 20]);
  const teeth = banded(
    [0, ...Array.from({ length: 99 }, (_, at) => at + 1)],
    Array.from({ length: 100 }, (_, at) => at % 2),
    100,
    10,
  );
  assert.deepEqual([teeth.low![10], teeth.high![10]], [0, 1]);
});
