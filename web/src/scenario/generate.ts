// Writes the types of a scenario and of a run's summary, made from the program's JSON Schemas, and the repository's scenarios as values
// of these types. `npm run types` runs this before the type checker, which thus checks that the scenarios conform, and the page reads
// what the engine writes. No file is committed.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";
import { scenarioFiles } from "./examples.ts";
import type { Schema } from "./schema.ts";
import { read } from "./toml.ts";

const root = new URL("../../../", import.meta.url);
const folder = new URL("generated/", import.meta.url);

/** The JSON Schema of scenario files or of summaries, from the program of this checkout or else that of the system. */
function schema(of: "scenario" | "summary"): Schema {
  const own = new URL(".venv/bin/ackclock", root);
  const program = process.env["ACKCLOCK"] ?? (existsSync(own) ? own.pathname : "ackclock");
  return JSON.parse(execFileSync(program, ["schema", of], { encoding: "utf8", maxBuffer: 1 << 26 })) as Schema;
}

type Definitions = Record<string, unknown>;

/** `schema` with tables that occur several times as definitions: a queue has one type, wherever a queue may stand. */
function shared(schema: Schema): Definitions {
  const seen = new Map<string, number>();
  const isTable = (value: object): boolean => "properties" in value || "oneOf" in value;
  const count = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (isTable(value)) {
      const text = JSON.stringify(value);
      seen.set(text, (seen.get(text) ?? 0) + 1);
      if (seen.get(text) !== 1) return;
    }
    for (const item of Object.values(value)) count(item);
  };
  count(schema);
  const names = new Map<string, string>();
  // The schema's own definitions keep their names.
  const { $defs: own = {}, ...rest } = schema;
  const definitions: Definitions = Object.fromEntries(Object.keys(own).map((name) => [name, {}]));
  const replace = (value: unknown, name: string, top = false): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => replace(item, name));
    const text = JSON.stringify(value);
    const inside = () =>
      Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          key === "properties"
            ? Object.fromEntries(
                Object.entries(item as object).map(([property, schema]) => [property, replace(schema, property)]),
              )
            : replace(item, name),
        ]),
      );
    if (top || !isTable(value) || (seen.get(text) ?? 0) < 2) return inside();
    let made = names.get(text);
    if (made === undefined) {
      const kind = (value as Schema).properties?.["kind"]?.const ?? "";
      const base = kind ? `${name}_${kind}` : name;
      for (let number = 1; made === undefined; number += 1) {
        const candidate = number === 1 ? base : `${base}_${number}`;
        if (!(candidate in definitions)) made = candidate;
      }
      names.set(text, made);
      definitions[made] = {};
      definitions[made] = inside();
    }
    return { $ref: `#/$defs/${made}` };
  };
  const whole = replace(rest, "scenario", true) as Definitions;
  for (const [name, definition] of Object.entries(own)) definitions[name] = replace(definition, name, true);
  return { ...whole, $defs: definitions };
}

/** The types of a schema, whose title names the outermost. */
const types = (schema: Definitions, title: string): Promise<string> =>
  compile({ ...schema, title }, title, {
    bannerComment: "/** Made by web/src/scenario/generate.ts from the program's JSON Schema. */",
    additionalProperties: false,
    format: false,
    unreachableDefinitions: false,
  });

const examples = scenarioFiles().map(
  ([file, text]) => `  ${JSON.stringify(file)}: ${JSON.stringify(read(text).values)},\n`,
);
await mkdir(folder, { recursive: true });
await writeFile(new URL("scenario.ts", folder), await types(shared(schema("scenario")), "Scenario"));
await writeFile(new URL("summary.ts", folder), await types({ ...schema("summary") }, "Summary"));
await writeFile(
  new URL("examples.ts", folder),
  `import type { Scenario } from "./scenario.ts";\n\nexport const examples = {\n${examples.join("")}} satisfies Record<string, Scenario>;\n`,
);
