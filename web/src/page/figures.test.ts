import assert from "node:assert/strict";
import { test } from "node:test";
import { DARK, dashOf, faded, LIGHT, wrapped } from "./look.ts";
import { addSeries, type FigureSpec, type PanelSpec, removeSeries, type SeriesSpec } from "./spec.ts";
import { layoutOf, mapOf, tracesOf } from "./traces.ts";

const series = (more: Partial<SeriesSpec>): SeriesSpec => ({ name: "a", colour: 0, style: "line", y: [1, 2], ...more });
const panel = (more: Partial<PanelSpec>): PanelSpec => ({ title: "", x: { title: "" }, y: { title: "" }, ...more });

test("texts lose their markup, and break between words", () => {
  assert.equal(wrapped("a <b> & c", 5), "a &lt;b&gt;<br>&amp; c");
  assert.equal(wrapped("incomprehensible word", 4), "incomprehensible<br>word");
});

test("colours that come again have other dashes, and so has each press", () => {
  assert.equal(LIGHT.palette.length, DARK.palette.length);
  const count = LIGHT.palette.length;
  assert.deepEqual(
    [0, count, 2 * count].map((colour) => dashOf({ colour }, LIGHT)),
    ["solid", "dash", "dot"],
  );
  assert.deepEqual(
    [1, 2, 4].map((again) => dashOf({ colour: 0, again }, LIGHT)),
    ["dot", "dash", "dot"],
  );
  assert.equal(faded("#0072B2", 0.5), "rgba(0,114,178,0.5)");
});

test("a curve with ends has a band below itself, points have error bars", () => {
  const ends = { low: [0, null], high: [3, null] };
  const [low, high, main] = tracesOf(series({ ...ends, x0: 1, dx: 2 }), LIGHT);
  assert.deepEqual([low!["y"], high!["y"], high!["fill"], main!["y"]], [ends.low, ends.high, "tonexty", [1, 2]]);
  assert.deepEqual([main!["x0"], main!["dx"], main!["hovertemplate"]], [1, 2, "%{y:.4~g}<extra>a</extra>"]);
  const [points] = tracesOf(series({ ...ends, style: "points", x: ["p", "q"], texts: ["<1>", "2"] }), LIGHT);
  const { array, arrayminus } = points!["error_y"] as { array: number[]; arrayminus: number[] };
  assert.deepEqual(
    [array, arrayminus, points!["text"]],
    [
      [2, 0],
      [1, 0],
      ["&lt;1&gt;", "2"],
    ],
  );
});

test("bars begin at their base, and hollow points have the colour of the page", () => {
  const [bars] = tracesOf(series({ style: "bars", base: 1, y: [1.5, null] }), LIGHT);
  assert.deepEqual([bars!["y"], bars!["customdata"], bars!["base"]], [[0.5, null], [1.5, null], 1]);
  const [points] = tracesOf(series({ style: "points", hollow: [true, false] }), DARK);
  assert.deepEqual((points!["marker"] as { color: string[] }).color, [DARK.paper, DARK.palette[0]]);
});

test("panels of few curves share one label and begin at 0; points step aside", () => {
  const curves = layoutOf(panel({ series: [series({})] }), LIGHT, 800, false);
  assert.deepEqual(
    [curves["hovermode"], (curves["yaxis"] as { rangemode: string }).rangemode],
    ["x unified", "tozero"],
  );
  const points = layoutOf(
    panel({ series: [series({ style: "points" })], y: { title: "", log: true, limits: [1, 100] } }),
    LIGHT,
    800,
    true,
  );
  assert.deepEqual([points["scattermode"], points["dragmode"]], ["group", false]);
  assert.deepEqual((points["yaxis"] as { range: number[] }).range, [0, 2]);
  const { shapes } = layoutOf(panel({ references: [1], band: [2, 3], bars: [[0, 4]] }), LIGHT, 800, false);
  assert.deepEqual(
    shapes.map(({ type, y0 }) => [type, y0]),
    [
      ["line", 1],
      ["rect", 2],
      ["line", 4],
    ],
  );
});

test("a map has its first row at the top and frames around cells; a narrow one has no texts", () => {
  const map = { x: ["x1", "x2"], y: ["y1"], z: [[1, null]], texts: [["1", ""]], ends: [1, 1] as [number, number] };
  const wide = mapOf({ ...map, colours: "gain", unit: "s", framed: [[1, 0]] }, 800);
  assert.deepEqual(
    [wide.y["autorange"], wide.trace["texttemplate"], wide.shapes[0]!["x0"]],
    ["reversed", "%{text}", 0.53],
  );
  const narrow = mapOf({ ...map, colours: "gain", unit: "s" }, 158);
  assert.deepEqual([narrow.trace["texttemplate"], narrow.trace["showscale"]], [undefined, false]);
});

test("a new series has the colour of the stored one, widens the axis, and goes again", () => {
  const stored = series({ colour: 3, style: "joined", x: ["1"], y: [5] });
  const place = panel({ y: { title: "", limits: [0, 6] }, series: [stored] });
  const spec: FigureSpec = { legend: [{ name: "a", colour: 3, style: "joined" }], panels: [place] };
  addSeries(spec, 0, "a", { name: "a, run 1", style: "again", x: ["1"], y: [10], again: 1 });
  assert.deepEqual([place.series![1]!.colour, place.series![1]!.group, place.y.limits![0]], [3, "a", 0]);
  assert.ok(place.y.limits![1] > 10);
  assert.equal(spec.legend.length, 2);
  removeSeries(spec);
  assert.deepEqual([place.series, place.y.limits, spec.legend.length], [[stored], [0, 6], 1]);
});
