import assert from "node:assert/strict";
import { test } from "node:test";
import { viewFrom } from "./link.ts";

test("a link's view is taken as far as the page knows it", () => {
  assert.deepEqual(viewFrom({ charts: ["queue", "cwnd", "nothing"], zoom: [1, 2.5] }), {
    visible: ["cwnd", "queue"],
    zoom: [1, 2.5],
  });
  assert.deepEqual(viewFrom({}), {});
  assert.deepEqual(viewFrom({ charts: "cwnd", zoom: [2, 1] }), {});
  assert.deepEqual(viewFrom({ charts: [], zoom: ["0", 1] }), {});
  assert.deepEqual(viewFrom({ zoom: [-1, 1] }), {});
});
