import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdvanceAnswer, decode, type PathAnswer, type ScenarioInfo } from "../engine/protocol.ts";
import { frame } from "../engine/testing.ts";
import { colour } from "./colours.ts";
import { CHARTS, type Choice, curves, note, offered, PATH, rateWindow } from "./curves.ts";
import { points } from "./panel.ts";
import { Recording } from "./recording.ts";

const link = (name: string) => ({ name, from: "a", to: "b", rate: 1e6, delay: 0.01, queue: "droptail" });
const scenario: ScenarioInfo = {
  name: "x",
  duration: 10,
  seed: 1,
  flows: ["one", "two"],
  links: [link("a>b"), link("b>a")],
  bottleneck: "a>b",
  record: [],
};

/** A recording of two flows: windows, a queue of link 0 and a drop there. */
function recording(): Recording {
  const columns = new Uint8Array(160);
  const doubles = new Float64Array(columns.buffer);
  doubles.set([1, 2, 3]); // times of windows
  new Uint32Array(columns.buffer, 24, 3).set([0, 1, 0]); // flows
  doubles.set([10, 20, 30], 5); // cwnd
  doubles.set([Number.POSITIVE_INFINITY, 8, 9], 8); // ssthresh
  doubles.set([2, 4], 11); // time and packets of the queue
  doubles.set([2.5], 13); // time of the drop
  const f64 = (name: string, offset: number) => ({ name, type: "f64", offset: offset * 8 });
  const tables = {
    drops: { rows: 1, columns: [f64("time", 13), { name: "link", type: "u32", offset: 152 }] },
    cwnd: {
      rows: 3,
      columns: [f64("time", 0), { name: "flow", type: "u32", offset: 24 }, f64("cwnd", 5), f64("ssthresh", 8)],
    },
    sojourn: {
      rows: 1,
      columns: [
        f64("time", 11),
        { name: "link", type: "u32", offset: 152 },
        { name: "flow", type: "u32", offset: 152 },
        f64("sojourn", 12),
      ],
    },
    queue: { rows: 1, columns: [f64("time", 11), { name: "link", type: "u32", offset: 152 }, f64("packets", 12)] },
  };
  const made = new Recording(scenario);
  made.add(decode<AdvanceAnswer>(frame({ run: 0, time: 4, duration: 10, events: 1, done: false, tables }, columns)));
  return made;
}

const chart = (id: string) => CHARTS.find((known) => known.id === id)!;

test("rows become series of their flow or link", () => {
  const made = recording();
  assert.equal(made.reached, 4);
  assert.deepEqual([made.series("cwnd", 0)!.at(3), made.series("cwnd", 1)!.at(3)], [30, 20]);
  assert.ok(Number.isNaN(made.series("ssthresh", 0)!.at(2)));
  assert.equal(made.series("drops", 0)!.at(3), 4);
  assert.equal(made.series("queue", 1), undefined);
});

test("a chart has a curve for each chosen flow, with one name for what both have", () => {
  const found = curves(
    chart("cwnd"),
    [{ label: "now", recording: recording() }],
    { flows: ["one", "two"], link: "a>b" },
    1,
  );
  assert.deepEqual(
    found.map(({ label, named }) => [label, named]),
    [
      ["one", true],
      ["ssthresh", true],
      ["two", true],
      ["ssthresh", false],
    ],
  );
  assert.notEqual(found[0]!.colour, found[2]!.colour);
});

test("a kept run has its label and another colour, and no thresholds", () => {
  const runs = ["now", "before"].map((label) => ({ label, recording: recording() }));
  const found = curves(chart("cwnd"), runs, { flows: ["one"], link: "a>b" }, 1);
  assert.deepEqual(
    found.map(({ label }) => label),
    ["now", "ssthresh", "before"],
  );
  assert.notEqual(found[0]!.colour.slice(0, 7), found[2]!.colour.slice(0, 7));
});

test("many curves of several flows are those of one run, which the note names", () => {
  const runs = ["now", "before", "long ago"].map((label) => ({ label, recording: recording() }));
  const both = { flows: ["one", "two"], link: "a>b" };
  const labels = (choice: Choice, shown = runs) =>
    curves(chart("cwnd"), shown, choice, 1).flatMap(({ label }) => (label === "ssthresh" ? [] : label));
  assert.deepEqual(labels(both), ["one", "two"]);
  assert.deepEqual(labels({ ...both, run: 7 }), ["one", "two"]);
  assert.equal(note(chart("cwnd"), runs, { ...both, run: 1 }, 1), "segments with before");
  // Few curves are shown together, and so are all runs of one flow.
  assert.deepEqual(labels(both, runs.slice(1)), ["one", "two", "one, long ago", "two, long ago"]);
  assert.equal(note(chart("cwnd"), runs.slice(1), both, 1), "segments");
  assert.deepEqual(labels({ ...both, flows: ["two"] }), ["now", "before", "long ago"]);
  assert.equal(note(chart("cwnd"), runs, { ...both, flows: ["two"] }, 1), "segments of two");
});

test("a flow whose name says nothing has its title", () => {
  const runs = [{ label: "now", recording: recording(), titles: { one: "one: slow start staged" } }];
  const found = curves(chart("cwnd"), runs, { flows: ["one", "two"], link: "a>b" }, 1);
  assert.deepEqual(
    found.flatMap(({ label }) => (label === "ssthresh" ? [] : label)),
    ["one: slow start staged", "two"],
  );
});

test("a waiting time is that of a flow at a link", () => {
  const runs = [{ label: "now", recording: recording() }];
  const waits = (flow: string, link: string) => curves(chart("wait"), runs, { flows: [flow], link }, 1).length;
  assert.deepEqual([waits("one", "a>b"), waits("two", "a>b"), waits("one", "b>a")], [1, 0, 0]);
});

test("the first loss is the earliest drop of any link", () => {
  assert.equal(recording().firstLoss, 2.5);
  assert.equal(new Recording(recording().scenario).firstLoss, undefined);
});

test("the queue is that of the chosen link", () => {
  const runs = [{ label: "now", recording: recording() }];
  assert.deepEqual(
    curves(chart("queue"), runs, { flows: ["one"], link: "a>b" }, 1).map(({ label }) => label),
    ["a>b", "drops"],
  );
  assert.deepEqual(curves(chart("queue"), runs, { flows: ["one"], link: "b>a" }, 1), []);
});

test("throughput is measured over a round part of the run", () => {
  assert.deepEqual([30, 10, 4, 300].map(rateWindow), [0.5, 0.1, 0.05, 5]);
});

/** A recording whose path has a rate and losses over two parts of the time, on link 1 before link 0. */
function withPath(): Recording {
  const columns = new Uint8Array(128);
  const doubles = new Float64Array(columns.buffer);
  doubles.set([0, 5, 0, 5], 0);
  doubles.set([4e6, 4e6, 2e6, 0], 4);
  doubles.set([0, 0, 0.25, Number.NaN], 8);
  new Uint32Array(columns.buffer, 96, 4).set([1, 1, 0, 0]);
  const f64 = (name: string, offset: number) => ({ name, type: "f64" as const, offset });
  const places = [f64("time", 0), { name: "link", type: "u32" as const, offset: 96 }, f64("rate", 32), f64("loss", 64)];
  const made = new Recording(scenario);
  made.addPath(decode<PathAnswer>(frame({ run: 0, tables: { path: { rows: 4, columns: places } } }, columns)));
  return made;
}

test("a path that varies has charts of what varies, over the whole run", () => {
  const choice = { flows: ["one"], link: "b>a" };
  const runs = [{ label: "now", recording: withPath() }];
  const ids = (shown: typeof runs) => offered(shown, choice).flatMap(({ id, of }) => (of === "path" ? id : []));
  assert.deepEqual(ids(runs), ["path-rate", "path-loss"]);
  assert.deepEqual(ids([{ label: "now", recording: recording() }]), []);
  assert.deepEqual(PATH, ["path-rate", "path-delay", "path-loss"]);
  const [there, back] = curves(chart("path-rate"), runs, choice, 1);
  assert.deepEqual([there!.label, back!.label], ["a>b", "b>a"]);
  assert.deepEqual([there!.colour, back!.colour], [colour(0), colour(1)]);
  const grid = { from: 0, to: 9, buckets: 3 };
  assert.deepEqual(points(there!, grid), [2, 2, 0, 0, 0, 0]);
  assert.deepEqual(points(back!, grid), [4, 4, 4, 4, 4, 4]);
  assert.deepEqual(points(curves(chart("path-loss"), runs, choice, 1)[0]!, grid), [25, 25, null, null, null, null]);
});

test("of several runs, charts of the path compare the bottleneck", () => {
  const runs = ["now", "before"].map((label) => ({ label, recording: withPath() }));
  const choice = { flows: ["one", "two"], link: "b>a" };
  assert.deepEqual(
    curves(chart("path-rate"), runs, choice, 1).map(({ label }) => label),
    ["now", "before"],
  );
  assert.equal(note(chart("path-rate"), runs, choice, 1), "Mbit/s at a>b");
});
