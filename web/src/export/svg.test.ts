import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { python } from "../scenario/native.ts";
import { escaped, type Plot, svg, ticks } from "./svg.ts";

const plot = (change: Partial<Plot> = {}): Plot => ({
  title: "Congestion window",
  unit: "segments",
  height: 100,
  from: 0,
  to: 4,
  times: [0, 1, 2, 3],
  curves: [
    { label: "flow <0>", colour: "#0072B2", width: 2, dots: false, scaled: true, values: [1, 2, null, 10] },
    {
      label: null,
      colour: "#D55E0080",
      width: 1,
      dash: [4, 4],
      dots: false,
      scaled: false,
      values: [1e9, 1e9, 1e9, 1e9],
    },
    { label: "drops", colour: "#D55E00", width: 5, dots: true, scaled: true, values: [null, 3, null, null] },
  ],
  ...change,
});

/** The tags and texts of XML, read by a parser of XML. */
function parsed(text: string): { tags: string[]; texts: string[] } {
  const program =
    "import json,sys,xml.etree.ElementTree as E\nroot=E.fromstring(sys.stdin.buffer.read())\nprint(json.dumps({'tags':[e.tag.split('}')[1] for e in root.iter()],'texts':[e.text for e in root.iter() if e.text and e.text.strip()]}))";
  return JSON.parse(execFileSync(python, ["-c", program], { input: text, encoding: "utf8" })) as {
    tags: string[];
    texts: string[];
  };
}

test("a figure has title, axes with units, legend and curves", () => {
  const made = svg([plot(), plot({ title: "Queue", unit: "packets at n1>n2" })], {
    title: "A & B",
    subtitle: "seed 1",
  });
  const { tags, texts } = parsed(made);
  for (const text of [
    "A & B",
    "seed 1",
    "Congestion window (segments)",
    "Queue (packets at n1>n2)",
    "time (s)",
    "flow <0>",
    "drops",
    "10",
  ]) {
    assert.ok(texts.includes(text), text);
  }
  assert.equal(texts.filter((text) => text === "time (s)").length, 1);
  assert.equal(tags.filter((tag) => tag === "clipPath").length, 2);
  assert.ok(!tags.includes("image") && !tags.includes("script"));
  // A gap in the values is a gap in the curve; a value outside the scale does not stretch it.
  assert.match(made, /<path d="M64 [\d.]+L268\.5 [\d.]+M677\.5 [\d.]+" fill="none" stroke="#0072B2"/);
  assert.match(made, /stroke="#D55E00" stroke-opacity="0\.5" stroke-width="1" stroke-dasharray="4 4"/);
  assert.match(made, /h0" fill="none" stroke="#D55E00" stroke-width="5" stroke-linecap="round"/);
});

test("any names make well-formed XML", () => {
  const texts = fc.sample(fc.string({ unit: "binary", maxLength: 60 }), { numRuns: 40, seed: 1 });
  const hostile = ["</text><script>alert(1)</script>", '" onload="x', "]]>", "\u0000\u0008\ud800", ...texts];
  const curves = hostile.map((label) => ({
    label,
    colour: label,
    width: 1,
    dots: false,
    scaled: true,
    values: [1, 2],
  }));
  const { tags } = parsed(
    svg([plot({ title: hostile.join(" "), curves })], { title: hostile.join(" "), subtitle: hostile[0]! }),
  );
  assert.ok(!tags.includes("script"));
  assert.equal(escaped('a<b>&"\u0001'), "a&lt;b&gt;&amp;&quot;\ufffd");
});

test("a plot without values has axes", () => {
  const { tags } = parsed(
    svg([plot({ curves: [] }), plot({ from: 1, to: 1, times: [], curves: [] })], { title: "empty" }),
  );
  assert.ok(tags.includes("path"));
});

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.13, 0.29, 4), [0.15, 0.2, 0.25]);
  assert.deepEqual(ticks(0, 1.05e7, 2), [0, 10_000_000]);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.integer({ min: 2, max: 12 }),
      (from, extent, count) => {
        const size = Math.max(extent, from * 1e-6);
        const made = ticks(from, from + size, count);
        assert.ok(made.length <= count + 2);
        for (const tick of made) assert.ok(tick >= from - size * 1e-6 && tick <= from + size * (1 + 1e-6));
      },
    ),
  );
});
