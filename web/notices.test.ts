import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Metafile } from "esbuild";
import { contained, rendered } from "./notices.ts";

/** A package, and esbuild's report of a script with some bytes of it. */
function used(name: string, files: Record<string, string>, bytesInOutput = 1): Metafile {
  const folder = join(mkdtempSync(join(tmpdir(), "notices-")), "node_modules", name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const inputs = { [join(folder, "dist/index.js")]: { bytesInOutput }, "src/main.ts": { bytesInOutput: 9 } };
  return { inputs: {}, outputs: { "out.js": { bytes: 10, inputs, imports: [], exports: [] } } };
}

const about = JSON.stringify({ name: "@a/b", version: "1.2.3", license: "MIT" });

test("a script's packages are those that esbuild has put into it, with their licence", () => {
  const files = { "package.json": about, LICENSE: "the text\r\nof it\n", "README.md": "no licence" };
  assert.deepEqual([...contained(used("@a/b", files))], [["@a/b 1.2.3: MIT", "the text\nof it"]]);
  assert.deepEqual([...contained(used("@a/b", files, 0))], []);
});

test("a package without a text of its licence is an error", () => {
  assert.throws(() => contained(used("c", { "package.json": about })), /has no file with its licence/);
});

test("notices list every package, and have every text once", () => {
  const text = rendered(
    new Map([
      ["a 1: MIT", "same"],
      ["@b/c 2: MIT", "same"],
      ["d 3: ISC", "other"],
    ]),
  );
  const rule = "-".repeat(100);
  const listed = "  a 1: MIT\n  @b/c 2: MIT\n  d 3: ISC\n";
  assert.equal(text, `${listed}\n${rule}\n\na 1, @b/c 2:\n\nsame\n\n${rule}\n\nd 3:\n\nother\n`);
});
