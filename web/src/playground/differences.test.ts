import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, flowTitles } from "./differences.ts";

test("labels name the values that differ, and only these", () => {
  const base = { duration: "10 s", topology: { bottleneck: { rate: "10 Mbit/s", queue: "50 packets" } } };
  const other = { duration: "10 s", topology: { bottleneck: { rate: "20 Mbit/s", queue: "50 packets" } } };
  assert.deepEqual(differences([base, other]), ["rate 10 Mbit/s", "rate 20 Mbit/s"]);
});

test("a key that is not written has its default", () => {
  assert.deepEqual(differences([{ flow: {} }, { flow: { slow_start: "limited" } }]), [
    "slow start default",
    "slow start limited",
  ]);
});

test("the kind of a part is named by its key", () => {
  const labels = differences([
    { flow: [{ avoidance: { kind: "cubic" } }] },
    { flow: [{ avoidance: { kind: "reno" } }] },
  ]);
  assert.deepEqual(labels, ["avoidance cubic", "avoidance reno"]);
});

test("equal ends of paths are told apart", () => {
  const flows = (one: string, two: string) => ({ flow: [{ size: one }, { size: two }] });
  assert.deepEqual(differences([flows("1 MB", "2 MB"), flows("3 MB", "4 MB")]), [
    "0.size 1 MB, 1.size 2 MB",
    "0.size 3 MB, 1.size 4 MB",
  ]);
});

test("equal scenarios are numbered", () => {
  assert.deepEqual(differences([{ seed: 1 }, { seed: 1 }]), ["run 1", "run 2"]);
});

test("a long value is cut, between characters", () => {
  const labels = differences([{ name: "🚀".repeat(40) }, { name: "a".repeat(28) }]);
  assert.deepEqual(labels, [`name ${"🚀".repeat(27)}…`, `name ${"a".repeat(28)}`]);
});

test("flows with numbers for names are called by what differs between them", () => {
  const flow = [{}, { name: "flow1", slow_start: "staged" }, { name: "call" }];
  assert.deepEqual(flowTitles({ flow }, ["flow0", "flow1", "call"]), {
    flow0: "flow0: slow start default",
    flow1: "flow1: slow start staged",
  });
  assert.deepEqual(flowTitles({ flow: [{}, { name: "flow1" }] }, ["flow0", "flow1"]), {}, "equal flows");
  assert.deepEqual(flowTitles({ flow: { count: 2 } }, ["flow0", "flow1"]), {});
});
