import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { stale } from "./stale.ts";

test("a built file is stale if any source in the folders is newer", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "stale-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [built, sources, source] = [join(folder, "built"), join(folder, "a"), join(folder, "a", "b", "source")];
  mkdirSync(join(sources, "b"), { recursive: true });
  writeFileSync(source, "");
  assert.equal(stale(built, [sources]), false);
  writeFileSync(built, "");
  utimesSync(built, 2000, 2000);
  utimesSync(source, 1000, 1000);
  assert.equal(stale(built, [sources, source]), false);
  utimesSync(source, 3000, 3000);
  assert.equal(stale(built, [sources]), true);
  assert.equal(stale(built, [source]), true);
});
