import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { scenarioFiles } from "../scenario/examples.ts";
import { decode, encode, MOST_BYTES, MOST_CHARACTERS, type Shared } from "./share.ts";

const only = (text: string): Shared => ({ text, runs: [], view: {} });
const packed = (value: unknown): string => `s=1.${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;
const problem = async (fragment: string): Promise<string> => {
  const answer = await decode(fragment);
  assert.ok(answer && "problem" in answer, JSON.stringify(answer));
  return answer.problem;
};

const text = fc.string({ unit: "grapheme", maxLength: 300 });
const scalar = fc.oneof(text, fc.integer(), fc.boolean());
const states = fc.record(
  {
    text,
    runs: fc.array(fc.record({ name: text, text }, { noNullPrototype: true }), { maxLength: 12 }),
    view: fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(scalar, fc.array(fc.oneof(text, fc.integer()), { maxLength: 4 })),
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);

test("decoding is the inverse of encoding", async () => {
  await fc.assert(
    fc.asyncProperty(states, async (state) => {
      const fragment = await encode(state);
      assert.match(fragment, /^s=1\.[\w-]*$/);
      assert.deepEqual(await decode(`#${fragment}`), { state });
      assert.deepEqual(await decode(`lesson=3&${fragment}`), { state });
    }),
    { numRuns: 200 },
  );
});

test("any other text is no link, or has a problem", async () => {
  const pieces = fc.oneof(
    fc.string(),
    fc.string().map((rest) => `s=${rest}`),
    fc.base64String().map((rest) => `s=1.${rest}`),
  );
  await fc.assert(
    fc.asyncProperty(pieces, async (fragment) => {
      const answer = await decode(fragment);
      assert.ok(answer === null || "problem" in answer || typeof answer.state.text === "string");
    }),
    { numRuns: 300 },
  );
});

test("a link that was cut off, of another version, or without a scenario says so", async () => {
  const fragment = await encode(only("duration = '1 s'\n[flow]\n".repeat(20)));
  for (let length = 4; length < fragment.length; length += 1) {
    assert.match(await problem(fragment.slice(0, length)), /damaged/);
  }
  assert.equal(await decode(""), null);
  assert.equal(await decode("#lesson=aqm"), null);
  assert.match(await problem(fragment.replace("s=1.", "s=2.")), /newer version/);
  assert.match(await problem("s="), /damaged/);
  assert.match(await problem(packed({ text: "a" })), /no scenario/);
  assert.match(await problem(packed([1])), /no scenario/);
  assert.match(await problem(packed("x")), /no scenario/);
});

test("members that a page does not know are left out", async () => {
  const answer = await decode(
    packed(["t", [["a", "b"], ["a"], [1, 2], null], { zoom: [1, 2], bad: { x: 1 }, worse: null }, "more"]),
  );
  assert.deepEqual(answer, { state: { text: "t", runs: [{ name: "a", text: "b" }], view: { zoom: [1, 2] } } });
  const many = await decode(packed(["t", Array.from({ length: 50 }, () => ["a", "b"])]));
  assert.equal(many && "state" in many && many.state.runs.length, 12);
});

test("a small link cannot hold a large text", async () => {
  const bomb = deflateRawSync(Buffer.alloc(30 * MOST_BYTES, 32)).toString("base64url");
  assert.ok(bomb.length < MOST_CHARACTERS);
  assert.match(await problem(`s=1.${bomb}`), /more than 1 MB/);
  assert.match(await problem(`s=1.${"A".repeat(MOST_CHARACTERS + 1)}`), /too long/);
});

test("what is too long for a link says so", async () => {
  // Pseudo-random digits, which hardly compress.
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return String.fromCharCode(33 + (seed % 90));
  };
  const noise = Array.from({ length: 200_000 }, next).join("");
  await assert.rejects(encode(only(noise)), /too long for a link: the link would have \d+ characters/);
  await assert.rejects(encode(only(" ".repeat(MOST_BYTES + 1))), /the scenario has \d+ bytes/);
});

test("every scenario of the repository fits a link", async () => {
  for (const [file, text] of scenarioFiles()) {
    const fragment = await encode(only(text));
    assert.ok(fragment.length < 8000, `${file}: ${fragment.length}`);
    assert.deepEqual(await decode(fragment), { state: only(text) });
  }
});
