import assert from "node:assert/strict";
import { test } from "node:test";
import { onResolution } from "./canvas.ts";

test("each change of the screen's resolution is heard, not only the first", () => {
  const queries: { text: string; change: () => void }[] = [];
  const screen = {
    devicePixelRatio: 1,
    matchMedia: (text: string) => ({
      addEventListener: (_: string, change: () => void) => queries.push({ text, change }),
    }),
  };
  Object.assign(globalThis, screen);
  let heard = 0;
  onResolution(() => heard++);
  for (const ratio of [2, 1.5]) {
    Object.assign(globalThis, { devicePixelRatio: ratio });
    queries.at(-1)!.change();
  }
  assert.equal(heard, 2);
  assert.deepEqual(
    queries.map(({ text }) => text),
    ["(resolution: 1dppx)", "(resolution: 2dppx)", "(resolution: 1.5dppx)"],
  );
});
