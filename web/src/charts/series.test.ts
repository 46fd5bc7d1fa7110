import assert from "node:assert/strict";
import { test } from "node:test";
import { dots, held, rate, rates, Series, times } from "./series.ts";

function series(...samples: [time: number, value: number][]): Series {
  const made = new Series();
  for (const [time, value] of samples) made.push(time, value);
  return made;
}

test("a value holds from its sample until the next", () => {
  const made = series([1, 10], [2, 20], [2, 30]);
  assert.ok(Number.isNaN(made.at(0.9)));
  assert.deepEqual([made.at(1), made.at(1.9), made.at(2), made.at(99)], [10, 10, 30, 30]);
});

test("extremes over blocks equal those of a plain search", () => {
  const made = new Series();
  const values: number[] = [];
  for (let index = 0; index < 5000; index++) {
    const value = Math.sin(index * 1.7) * index;
    values.push(value);
    made.push(index, value);
  }
  for (const [from, to] of [
    [0, 5000],
    [1, 64],
    [63, 129],
    [100, 4321],
    [4999, 5000],
  ] as const) {
    const part = values.slice(from, to);
    assert.deepEqual(made.extremes(from, to), [Math.min(...part), Math.max(...part)]);
  }
  assert.equal(made.extremes(7, 7), undefined);
});

test("held: no peak is lost, gaps hold the last value, and nothing follows the end", () => {
  const made = series([0, 1], [1.1, 5], [1.2, 100], [1.3, 2], [3.5, 7]);
  assert.deepEqual(held(made, { from: 0, to: 5, buckets: 5 }, 3.9), [1, 1, 2, 100, 2, 2, 7, 7, null, null]);
});

test("held: an infinite threshold draws nothing", () => {
  const made = series([0, Number.POSITIVE_INFINITY], [2, 40]);
  assert.deepEqual(held(made, { from: 0, to: 3, buckets: 3 }, 9), [null, null, 40, 40, 40, 40]);
});

test("held: a million rows reduce to the points of the grid", () => {
  const made = new Series();
  for (let index = 0; index < 1_000_000; index++) made.push(index / 1e5, index % 1000 === 0 ? 500 : index % 7);
  const points = held(made, { from: 0, to: 10, buckets: 600 }, 10);
  assert.equal(points.length, 1200);
  assert.equal(Math.max(...(points as number[])), 500);
  assert.equal(Math.min(...(points as number[])), 0);
});

test("dots: buckets without samples stay empty", () => {
  const made = series([0, 3], [2.5, 4], [2.6, 9]);
  assert.deepEqual(dots(made, { from: 0, to: 3, buckets: 3 }), [3, null, null, null, 4, 9]);
});

test("rates: growth in the window before each point", () => {
  const made = series([0.1, 100], [0.2, 200], [0.9, 300]);
  assert.ok(Math.abs(rate(made, 0.25, 0.1) - 1000) < 1e-9);
  assert.equal(rate(made, 5, 0.1), 0);
  const points = rates(made, { from: 0, to: 1, buckets: 2 }, 0.5, 1);
  assert.deepEqual(points, [100, 200, null, null]);
});

test("times are two points in each bucket", () => {
  assert.deepEqual(times({ from: 0, to: 2, buckets: 2 }), [0.25, 0.75, 1.25, 1.75]);
});
