import assert from "node:assert/strict";
import { test } from "node:test";
import { lexer } from "marked";
import { named, words } from "./lesson.ts";
import { VISIBLE } from "./overlay.ts";
import { block, readLessons } from "./read.ts";

const lessons = readLessons();

test("every lesson has a text, a question, an answer and a scenario", () => {
  assert.ok(lessons.length > 12);
  for (const lesson of lessons) {
    for (const tree of [lesson.text, lesson.question, lesson.answer]) assert.ok(tree.length > 0, lesson.id);
    assert.match(lesson.scenario, /^duration = /m);
    assert.ok(lesson.title && lesson.base && lesson.charts.length > 0);
    for (const chart of lesson.charts) assert.ok(chart in VISIBLE, `${lesson.id}: ${chart}`);
    for (const { name, edits } of lesson.compare) assert.ok(name && edits.length > 0, lesson.id);
  }
});

test("the text is plain: no entities, no marks of Markdown", () => {
  for (const { id, text, question, answer } of lessons)
    for (const tree of [...text, ...question, ...answer]) {
      assert.doesNotMatch(words(tree), /&[a-z#0-9]+;|\*\*|\n/, id);
    }
});

test("every lesson has a slider below a paragraph", () => {
  for (const { id, text } of lessons)
    assert.ok(
      text.some(({ sliders = [] }) => sliders.length > 0),
      id,
    );
});

test("an address names a lesson", () => {
  assert.equal(named(lessons, "#lesson=slow-start").lesson?.id, "slow-start");
  assert.deepEqual(named(lessons, "#lesson=none"), { id: "none", lesson: undefined });
  assert.deepEqual(named(lessons, "#s=abc"), { id: null, lesson: undefined });
});

test("HTML, images and links that are not https are refused", () => {
  for (const text of ["<b>x</b>", "a <img src=x onerror=alert(1)> b", "![x](y.png)", "[x](javascript:alert(1))", "# x"])
    assert.throws(() => block(lexer(text)[0]!, "test"), text);
});

test("Markdown becomes a tree", () => {
  assert.deepEqual(block(lexer("a *b* `c < d` & **e**")[0]!, "test"), {
    kind: "paragraph",
    children: [
      "a ",
      { kind: "em", children: ["b"] },
      " ",
      { kind: "code", children: ["c < d"] },
      " & ",
      { kind: "strong", children: ["e"] },
    ],
  });
  assert.deepEqual(block(lexer("- a\n  b\n- *c*")[0]!, "test"), {
    kind: "list",
    items: [["a b"], [{ kind: "em", children: ["c"] }]],
  });
});
