import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "../scenario/toml.ts";
import { withFlow } from "./flows.ts";

const added = (text: string) => JSON.parse(JSON.stringify(read(withFlow(text, read(text).values)).values["flow"]));

test("a single flow becomes the first of two", () => {
  const text = 'duration = "3 s"\n[flow] # the only one\nsize = "1 MB"\n[flow.modern]\nprr = false\n';
  assert.deepEqual(added(text), [{ size: "1 MB", modern: { prr: false } }, { name: "flow1" }]);
});

test("a list grows, with a name that no flow has", () => {
  assert.deepEqual(added('[[flow]]\nname = "flow1"\n'), [{ name: "flow1" }, { name: "flow2" }]);
});
