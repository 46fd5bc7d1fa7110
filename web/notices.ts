import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";

/** Licences by the packages that a script contains: "name version: SPDX expression" and the text. */
export type Contained = Map<string, string>;

const FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const TEXT = /^(licen[cs]e|copying)/i;

/** The packages whose code esbuild has put into a script. A package without the text of its licence is an error. */
export function contained(metafile: Metafile): Contained {
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  );
  const folders = new Set(used.flatMap(([path]) => FOLDER.exec(path)?.[0] ?? []));
  return new Map([...folders].sort().map(named));
}

/** A package in a folder, and its licence. */
export function named(folder: string): [string, string] {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => TEXT.test(file));
  if (!license || files.length === 0) throw new Error(`${folder} has no file with its licence`);
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  return [`${name} ${version}: ${license}`, texts.join("\n\n")];
}

/** A list of the packages, then every text once, with the packages that it belongs to. */
export function rendered(packages: Contained): string {
  const owners = new Map<string, string[]>();
  for (const [name, text] of packages) owners.set(text, [...(owners.get(text) ?? []), name.split(":")[0]!]);
  const texts = [...owners].map(([text, names]) => `\n${"-".repeat(100)}\n\n${names.join(", ")}:\n\n${text}\n`);
  return `${[...packages.keys()].map((name) => `  ${name}\n`).join("")}${texts.join("")}`;
}
