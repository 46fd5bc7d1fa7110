import assert from "node:assert/strict";
import { test } from "node:test";
import { interval, ratio, studentT, sum } from "./statistics.ts";

const close = (found: number, wanted: number, digits = 1e-12) =>
  assert.ok(Math.abs(found - wanted) <= digits * Math.abs(wanted), `${found} is not ${wanted}`);

test("a sum is rounded once", () => {
  assert.equal(sum(Array(10).fill(0.1)), 1);
  assert.equal(sum([1e100, 1, -1e100, 1e-20]), 1);
  // Half a unit in the last place, decided by what is below it.
  assert.equal(sum([1, 2 ** -53, 2 ** -106]), 1 + 2 ** -52);
  assert.equal(sum([]), 0);
});

test("quantiles of Student's t are those of tables", () => {
  close(studentT(0.975, 1), 12.706204736174696);
  close(studentT(0.975, 2), 4.302652729749462);
  close(studentT(0.975, 19), 2.0930240544083096);
  close(studentT(0.9995, 9), 4.780912585931153);
  close(studentT(0.975, 499), 1.9647293909876649);
});

test("an interval over seeds is Student's, over drawn paths the range", () => {
  const over = interval([1, 2, 3], "seed", 0.95);
  close(over.high - over.mean, 4.302652729749462 / Math.sqrt(3));
  assert.deepEqual(interval([3, 1, 2], "path", 0.95), { mean: 2, low: 1, high: 3, count: 3, note: "" });
  // On the logit scale an index stays below 1.
  assert.ok(interval([0.9, 0.99, 0.999], "seed", 0.95, [0, 1]).high < 1);
});

test("runs that show no spread decide nothing, and say why", () => {
  assert.match(interval([5], "seed", 0.95).note, /single run/);
  assert.match(interval([5, 5], "seed", 0.95).note, /same value/);
  assert.match(ratio([0, 0], [0, 0], "seed", 0.95).note, /both variants are 0/);
  assert.match(ratio([1, 2], [1, 2], "path", 0.95).note, /2 equal runs are too few: up to 78 %/);
  assert.equal(ratio([2, 2, 2, 2, 2], [2, 2, 2, 2, 2], "path", 0.95).note, "");
});

test("a ratio over drawn paths is the range of the pairs", () => {
  assert.deepEqual(ratio([2, 6], [1, 2], "path", 0.95), { mean: 8 / 3, low: 2, high: 3, count: 2, note: "" });
  assert.equal(ratio([0, 6], [0, 2], "path", 0.95).low, 1);
});
