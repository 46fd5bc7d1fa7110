// The repository's scenario files, for tests.

import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
const FOLDERS = ["scenarios/", "docs/images/", "papers/", "benches/workloads/", "crates/sim/tests/data/networks/"];

/** Every scenario file: its path from the top of the repository, and its text. Templates and other TOML files there have no number as duration. */
export function scenarioFiles(): [file: string, text: string][] {
  const files = FOLDERS.flatMap((folder) => {
    const names = readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".toml")).map((name) => folder + name);
  });
  const texts = files.sort().map((file): [string, string] => [file, readFileSync(new URL(file, root), "utf8")]);
  return texts.filter(([, text]) => /^duration *= *"\d/m.test(text));
}
