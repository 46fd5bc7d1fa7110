import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { commandLine, fileName, quoted } from "./command.ts";

const folder = mkdtempSync(join(tmpdir(), "ackclock-"));
after(() => rmSync(folder, { recursive: true }));
// Stands for the program: it writes its arguments, each behind a NUL.
writeFileSync(join(folder, "ackclock"), "#!/bin/sh\nprintf '%s\\0' \"$@\"\n");
chmodSync(join(folder, "ackclock"), 0o755);

/** What the shell makes of the commands: the program's arguments, and the file. */
function execute(commands: string): { words: string[]; file: string } {
  const env = { PATH: `${folder}:${process.env["PATH"]}` };
  const words = execFileSync("sh", ["-c", commands], { cwd: folder, env, encoding: "utf8" }).split("\0").slice(0, -1);
  return { words, file: readFileSync(join(folder, words[1] ?? ""), "utf8") };
}

test("the commands write the scenario and run it with the settings", () => {
  const text = "duration = \"1 s\" # $HOME `id` \\ 'quoted'\n[flow]\n";
  const commands = commandLine({
    name: "My run: 1",
    text,
    settings: [
      ["flow.rwnd", "20 packets"],
      ["seed", "3"],
    ],
    record: ["cwnd", "queue"],
    out: "results",
  });
  assert.equal(
    commands,
    `cat > My-run-1.toml <<'END'\n${text}END\nackclock run My-run-1.toml --set 'flow.rwnd=20 packets' --set seed=3 --record cwnd --record queue --out results\n`,
  );
  const { words, file } = execute(commands);
  assert.equal(file, text);
  assert.deepEqual(words.slice(2), [
    "--set",
    "flow.rwnd=20 packets",
    "--set",
    "seed=3",
    "--record",
    "cwnd",
    "--record",
    "queue",
    "--out",
    "results",
  ]);
});

test("letters beyond ASCII reach the program as they are", () => {
  // dash loses a byte of a line that begins as the delimiter does.
  for (const text of ["E\u0302\u0303\n", "ENĂ\n", "EĂ\nTĂ\nEND\n"])
    assert.equal(execute(commandLine({ name: "x", text })).file, text);
});

test("any text and any value reach the program as they are", () => {
  const line = fc.oneof(
    fc.constantFrom("END", "END2", "EOF", "'", "$(rm)", "`x`", "\\", ""),
    fc.string({ unit: "grapheme", maxLength: 12 }),
  );
  const noNul = (text: string) => text.replaceAll("\0", "").replaceAll("\r", "");
  fc.assert(
    fc.property(
      fc.array(line.map(noNul), { maxLength: 8 }),
      fc.string({ unit: "grapheme" }).map(noNul),
      fc.string(),
      (lines, value, name) => {
        const text = lines.map((line) => `${line}\n`).join("");
        const { words, file } = execute(commandLine({ name, text, settings: [["key", value]] }));
        assert.equal(file, text);
        assert.deepEqual(words, ["run", `${fileName(name)}.toml`, "--set", `key=${value}`]);
      },
    ),
    { numRuns: 60 },
  );
});

test("names of files are plain", () => {
  assert.equal(fileName("../../etc/passwd"), "etc-passwd");
  assert.equal(fileName("  "), "scenario");
  assert.equal(fileName("-rf"), "rf");
  assert.equal(quoted("it's"), `'it'\\''s'`);
  assert.equal(quoted(""), "''");
});
