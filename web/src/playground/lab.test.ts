import assert from "node:assert/strict";
import { test } from "node:test";
import type { Request } from "../engine/protocol.ts";
import { fakeEngine } from "../engine/testing.ts";
import { showRuns } from "../lessons/overlay.ts";
import { type Lab, makeLab, settled } from "./lab.ts";

/** An engine for texts like "rate=3": an edit replaces the value, a text with "fault" is refused, one with "long" never ends by itself. */
function laboratory(flowsOf = (_text: string) => ["a"]) {
  const texts: string[] = [];
  const opened: string[] = [];
  const engine = fakeEngine((request: Request) => {
    switch (request.do) {
      case "describe":
        return { version: "1", parts: {}, hosts: [], links: [], relations: {}, traces: {}, tables: {}, schema: {} };
      case "check":
      case "open": {
        if (request.text.includes("fault")) {
          const problem = { line: 1, column: 1, setting: null, key: "rate", message: "no such rate" };
          return { error: { text: "line 1: no such rate", problems: [problem] } };
        }
        const flows = flowsOf(request.text);
        const scenario = { name: "x", duration: 5, seed: 1, flows, links: [], bottleneck: null, record: [] };
        if (request.do === "check")
          return { scenario, values: { rate: request.text }, resolved: {}, frozen: "", hash: "" };
        opened.push(request.text);
        return { run: opened.length - 1, scenario };
      }
      case "edit":
        texts.push(request.text);
        return { text: `rate=${request.set.map(([key, literal]) => `${key}:${literal}`).join()}` };
      case "advance": {
        const done = !opened[request.run]!.includes("long");
        return { run: request.run, time: done ? 5 : 1, duration: 5, events: 1, done, tables: {} };
      }
      case "path":
        return { run: request.run, tables: {} };
      case "finish":
        return {
          summary: { scenario: opened[request.run], flows: [], links: [], warnings: [], events: 1 },
          digest: "d",
        };
      default:
        return {};
    }
  });
  return { make: () => engine, asked: engine.asked, opened };
}

/** The state of a laboratory. */
const stateOf = ({ text, problems, error, running, progress, status, current, choice }: Lab) => ({
  ...{ text: text.value, problems: problems.value, error: error.value, running: running.value },
  ...{ progress: progress.value, status: status.value, current: current.value, choice: choice.value },
});
type State = ReturnType<typeof stateOf>;

/** Waits until the state is as wanted. */
const until = (lab: Lab, wanted: (state: State) => boolean): Promise<State> =>
  settled(() => {
    const state = stateOf(lab);
    return wanted(state) ? state : undefined;
  });

const ran = (text: string) => (state: State) =>
  !state.running && state.current?.text === text && !!state.current.summary;

test("the first text runs at once, and the next when it changes", async () => {
  const lab = await makeLab(laboratory().make, "rate=1", ["cwnd"]);
  const first = await until(lab, ran("rate=1"));
  assert.deepEqual(first.choice, { flows: ["a"], link: "" });
  lab.setText("rate=2");
  const second = await until(lab, ran("rate=2"));
  assert.equal(second.current!.summary!.scenario, "rate=2");
});

test("of the edits of one key that come at once, only the last is made", async () => {
  const { make, asked } = laboratory();
  const lab = await makeLab(make, "rate=1", ["cwnd"]);
  await until(lab, ran("rate=1"));
  for (const value of ["2", "3", "4", "5"]) lab.edit([["r", value]]);
  await until(lab, ran("rate=r:5"));
  const edits = asked
    .filter((request) => request.do === "edit")
    .map((request) => (request.do === "edit" ? request.set : []));
  assert.deepEqual(edits, [[["r", "2"]], [["r", "5"]]]);
});

test("a fault is shown and runs nothing; the curves of the last run stay", async () => {
  const { make, opened } = laboratory();
  const lab = await makeLab(make, "rate=1", ["cwnd"]);
  await until(lab, ran("rate=1"));
  lab.setText("fault");
  const state = await until(lab, ({ error }) => error !== "");
  assert.equal(state.problems[0]!.message, "no such rate");
  assert.equal(state.current!.text, "rate=1");
  assert.deepEqual(opened, ["rate=1"]);
  lab.setText("rate=3");
  const after = await until(lab, ran("rate=3"));
  assert.deepEqual([after.error, after.problems], ["", []]);
});

test("a new scenario replaces a run that takes long, and this one is closed", async () => {
  const { make, asked } = laboratory();
  const lab = await makeLab(make, "long", ["cwnd"]);
  await until(lab, ({ running, progress }) => running && progress > 0);
  lab.setText("rate=2");
  await until(lab, ran("rate=2"));
  assert.deepEqual(
    asked.filter((request) => request.do === "close"),
    [{ do: "close", run: 0 }],
  );
});

test("a stopped run has no summary, and cannot be kept", async () => {
  const lab = await makeLab(laboratory().make, "long", ["cwnd"]);
  await until(lab, ({ current }) => current !== undefined);
  lab.stop();
  const state = await until(lab, ({ running }) => !running);
  assert.equal(state.status, "Stopped at 1.00 s.");
  lab.keep();
  assert.deepEqual(lab.kept.value, []);
});

test("kept runs are named by what differs; compared ones by their names", async () => {
  const lab = await makeLab(laboratory().make, "rate=1", ["cwnd"]);
  await until(lab, ran("rate=1"));
  lab.keep();
  lab.setText("rate=2");
  await until(lab, ran("rate=2"));
  assert.deepEqual(lab.labels.value, ["rate rate=2", "rate rate=1"]);
  await lab.compare([{ text: "rate=7", name: "seven" }]);
  assert.deepEqual(lab.labels.value, ["rate rate=2", "seven"]);
  assert.equal(lab.kept.value[0]!.summary!.scenario, "rate=7");
});

test("a lesson shows its own scenario while the runs that it compares are made", async () => {
  const lab = await makeLab(laboratory().make, "rate=1", ["cwnd"]);
  await until(lab, ran("rate=1"));
  const shown = new Set<string>();
  lab.text.subscribe((text) => shown.add(text));
  const compare = [
    { name: "two", edits: [["a", "2"] as [string, string]] },
    { name: "three", edits: [["a", "3"] as [string, string]] },
  ];
  const lesson = { id: "x", title: "", text: [], question: [], answer: [], scenario: "rate=9", base: "nine", compare };
  await showRuns(lab, { ...lesson, charts: ["rtt", "queue"], flows: [] }, new AbortController().signal);
  assert.deepEqual(lab.labels.value, ["nine", "two", "three"]);
  assert.deepEqual(
    lab.kept.value.map(({ text }) => text),
    ["rate=a:2", "rate=a:3"],
  );
  assert.deepEqual(lab.visible.value, ["delay", "queue"]);
  shown.delete("rate=1");
  assert.deepEqual([...shown], ["rate=9"]);
});

test("an engine older than the page is named", async () => {
  const engine = fakeEngine(() => ({
    version: "0.1.0",
    parts: {},
    hosts: [],
    links: [],
    traces: {},
    tables: {},
    schema: {},
  }));
  await assert.rejects(
    makeLab(() => engine, "rate=1", ["cwnd"]),
    /engine is older than this page: it is that of Ackclock 0\.1\.0/,
  );
});

test("a typed text that the reader runs at once runs once", async () => {
  const { make, opened } = laboratory();
  const lab = await makeLab(make, "rate=1", ["cwnd"]);
  await until(lab, ran("rate=1"));
  lab.setText("rate=2", true);
  lab.run();
  await until(lab, ran("rate=2"));
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.deepEqual(opened, ["rate=1", "rate=2"]);
});

test("picked curves stay until other flows come", async () => {
  const flows = ["a", "b", "c", "d", "e"];
  const { make } = laboratory((text) => (text.includes("more") ? flows : flows.slice(0, 2)));
  const lab = await makeLab(make, "rate=1", ["cwnd"]);
  const chosen = async (text: string) => (await until(lab, ran(text))).choice.flows;
  assert.deepEqual(await chosen("rate=1"), ["a", "b"]);
  lab.pick({ flows: ["b"] });
  lab.setText("rate=2");
  assert.deepEqual(await chosen("rate=2"), ["b"]);
  lab.setText("more");
  assert.deepEqual(await chosen("more"), ["a", "b", "c", "d"]);
  lab.prefer("more 2", { flows: ["e", "x"] });
  lab.setText("more 2");
  assert.deepEqual(await chosen("more 2"), ["e"]);
});
