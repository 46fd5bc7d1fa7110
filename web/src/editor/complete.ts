// Completion and hover for a scenario's text: what can stand at the cursor, and what a key means. Made from the schema and the registry.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";
import type { Describe } from "../scenario/describe.ts";
import { about, firstValue, meaning, schemaFor, values as valuesOf } from "../scenario/help.ts";
import { titled } from "../scenario/menus.ts";
import {
  forms,
  isFlag,
  itemsOf,
  keysAt,
  kinds,
  quantityWords,
  type Schema,
  tableOf,
  units,
  words,
  written,
} from "../scenario/schema.ts";
import { dotted, type Path, read, type Reading, type Spot, spotAt, valueAt, isTable } from "../scenario/toml.ts";

/** Paragraphs as a node; never HTML. */
export function paragraphs(texts: string[]): HTMLElement {
  const box = document.createElement("div");
  box.className = "help";
  for (const text of texts.filter((text) => text !== "")) {
    const line = document.createElement("p");
    line.textContent = text;
    box.append(line);
  }
  return box;
}

const info = (texts: string[]) => () => paragraphs(texts);

/** What completes the text at the cursor. */
export function complete(describe: Describe) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    const reading = read(text);
    const spot = spotAt(reading, context.pos);
    if (!spot) return null;
    const typed = text.slice(spot.from, context.pos);
    if (!context.explicit && typed.trim() === "" && !/[[.={,"]\s?$/.test(text.slice(0, context.pos))) return null;
    const from = typed.trim() === "" ? context.pos : spot.from;
    const options =
      spot.kind === "header"
        ? headers(describe, reading, spot)
        : spot.kind === "key"
          ? keys(describe, reading, spot, text)
          : values(describe, reading, spot, typed);
    if (options.length === 0) return null;
    return { from, to: context.pos, options: spot.kind === "value" ? options.map(replacing) : options, filter: true };
  };
}

/** A value that is completed replaces the whole value, with the quote that closes it. */
const replacing = (option: Completion): Completion => ({
  ...option,
  apply: (view, _, from, to) => {
    const spot = spotAt(read(view.state.doc.toString()), to);
    const end = spot?.kind === "value" && spot.from === from ? Math.max(spot.to, to) : to;
    const changes = { from, to: end, insert: option.label };
    view.dispatch({ changes, selection: { anchor: from + option.label.length }, userEvent: "input.complete" });
  },
});

const canBeTable = (schema: Schema): boolean =>
  forms(schema).some((form) => form.properties !== undefined) || itemsOf(schema)?.properties !== undefined;

/** Names of tables after `[` or `[[`; lists of tables need two brackets. */
function headers(describe: Describe, reading: Reading, spot: Spot): Completion[] {
  const known = keysAt(describe.schema, latest(reading, spot.path), reading.values);
  return Object.entries(known).flatMap(([name, schema]) => {
    if (!canBeTable(schema) || (spot.many && !itemsOf(schema)?.properties)) return [];
    return [{ label: name, type: "namespace", info: info(about(schema)) }];
  });
}

/** The path of a header with the index of the last table of each list. */
function latest(reading: Reading, path: Path): Path {
  const made: Path = [];
  for (const step of path) {
    made.push(step);
    const value = valueAt(reading.values, made);
    if (Array.isArray(value)) made.push(value.length - 1);
  }
  return made;
}

function keys(describe: Describe, reading: Reading, spot: Spot, text: string): Completion[] {
  if (spot.path[0] === "sweep") return sweepKeys(describe, reading, spot);
  const known = keysAt(describe.schema, spot.path, reading.values);
  const table = valueAt(reading.values, spot.path);
  const name = text.slice(spot.from, spot.to);
  const taken = new Set(isTable(table) ? Object.keys(table).filter((key) => key !== name) : []);
  const found = Object.entries(known).filter(([key]) => !taken.has(key));
  const made = found.map(([key, schema]): Completion => {
    const kind = key === "kind" ? "keyword" : "property";
    const help =
      key === "kind" && schema.const !== undefined
        ? ["The kind of the table, which decides its other keys."]
        : about(schema);
    return {
      label: key,
      type: kind,
      detail: brief(schema),
      info: info(help),
      apply: assign(key, schema, text, spot),
      boost: kind === "keyword" ? 1 : 0,
    };
  });
  return atLineStart(text, spot) ? [...made, ...tableHeaders(describe, reading)] : made;
}

const atLineStart = (text: string, spot: Spot): boolean => /(^|\n)[ \t]*$/.test(text.slice(0, spot.from));

/** Whole headers at the beginning of a line: the tables of the file and of the last flow. */
function tableHeaders(describe: Describe, reading: Reading): Completion[] {
  const made: Completion[] = [];
  for (const [name, schema] of Object.entries(describe.schema.properties ?? {})) {
    if (!canBeTable(schema)) continue;
    const items = itemsOf(schema);
    const written = valueAt(reading.values, [name]);
    const many = items?.properties !== undefined;
    const header = many && !isTable(written) ? `[[${name}]]` : `[${name}]`;
    if (many ? !isTable(written) : written === undefined)
      made.push({ label: header, type: "namespace", info: info(about(schema)) });
    const path = latest(reading, [name]);
    const inside =
      many && path.length === 1 && !isTable(written)
        ? undefined
        : tableOf(items ?? schema, valueAt(reading.values, path));
    for (const [key, inner] of Object.entries(inside?.properties ?? {})) {
      if (!canBeTable(inner) || kinds(inner).length > 0 || valueAt(reading.values, [...path, key]) !== undefined)
        continue;
      const list = itemsOf(inner)?.properties !== undefined;
      made.push({
        label: list ? `[[${name}.${key}]]` : `[${name}.${key}]`,
        type: "namespace",
        info: info(about(inner)),
        boost: -1,
      });
    }
  }
  return made;
}

/** A key of `[sweep]` is the path of the key to vary. */
function sweepKeys(describe: Describe, reading: Reading, spot: Spot): Completion[] {
  const found: Completion[] = [];
  const add = (name: string, schema: Schema) => {
    const label = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
    found.push({ label, type: "property", info: info(about(schema)), apply: `${label} = [` });
  };
  const tables: [string, Path][] = [
    ["", []],
    ["flow.", ["flow"]],
    ["topology.bottleneck.", ["topology", "bottleneck"]],
  ];
  for (const [prefix, path] of tables) {
    for (const [key, schema] of Object.entries(keysAt(describe.schema, latest(reading, path), reading.values))) {
      if (!canBeTable(schema) || kinds(schema).length > 0) add(prefix + key, schema);
    }
  }
  return spot.path.length === 1 || isTable(valueAt(reading.values, spot.path)) ? found : [];
}

const brief = (schema: Schema): string => {
  const text =
    schema.default === undefined || JSON.stringify(schema.default) === "{}"
      ? valuesOf(schema)
      : written(schema.default);
  return text.length > 28 ? `${text.slice(0, 27)}…` : text;
};

/** Inserts the key with ` = ` and a first value, which it selects so that typing replaces it. */
function assign(key: string, schema: Schema, text: string, spot: Spot) {
  return (view: EditorView, _: Completion, from: number, cursor: number) => {
    const to = Math.max(cursor, spot.to);
    if (/^[ \t]*=/.test(text.slice(spot.to))) {
      view.dispatch({
        changes: { from, to, insert: key },
        selection: { anchor: from + key.length },
        userEvent: "input.complete",
      });
      return;
    }
    const value = schema.const === undefined ? firstValue(key, schema) : written(schema.const);
    const insert = `${key} = ${value}`;
    const start = from + insert.length - value.length;
    const inner = /^["{[]/.test(value) ? 1 : 0;
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: start + inner, head: start + value.length - inner },
      userEvent: "input.complete",
    });
  };
}

/** The last name of a path, also of one that `[sweep]` has in quotes. */
const lastName = (path: Path): string =>
  String(path.findLast((step) => typeof step === "string") ?? "")
    .split(".")
    .at(-1)!;

function values(describe: Describe, reading: Reading, spot: Spot, typed: string): Completion[] {
  const name = lastName(spot.path);
  let schema =
    name === "kind"
      ? schemaFor(describe.schema, spot.path.slice(0, -1), reading.values)
      : schemaFor(describe.schema, spot.path, reading.values);
  if (!schema) return [];
  const axis = name === "kind" ? lastName(spot.path.slice(0, -1)) : name;
  if (name === "kind")
    return kinds(schema)
      .map((kind) => choice(kind.name, kind.summary, describe, axis, schema as Schema))
      .concat(hostKinds(describe, axis, schema));
  if (typeof spot.path.at(-1) === "number") schema = itemsOf(schema) ?? schema;
  const usual = schema.default;
  const made = [...words(schema), ...quantityWords(schema)].map((word) =>
    choice(word, "", describe, axis, schema as Schema),
  );
  if (isFlag(schema))
    made.push(
      ...["true", "false"].map((label) => ({
        label,
        type: "keyword",
        detail: String(usual) === label ? "default" : "",
      })),
    );
  made.push(...quantities(schema, typed));
  return made;
}

const hostKinds = (describe: Describe, axis: string, schema: Schema): Completion[] =>
  axis === "host" ? words(schema).map((word) => choice(word, "", describe, axis, schema)) : [];

function choice(word: string | number, summary: string, describe: Describe, key: string, schema: Schema): Completion {
  const text = summary || meaning(describe, schema, key, String(word));
  return {
    label: written(word),
    sortText: String(word),
    type: "enum",
    detail: schema.default === word ? "default" : "",
    info: info([text || titled(String(word))]),
  };
}

/** The number typed so far with every unit; without a number the default and examples. */
function quantities(schema: Schema, typed: string): Completion[] {
  const valid = units(schema);
  if (valid.length === 0) return [];
  const number = /^"?\s*([+-]?[\d.]+(?:e[+-]?\d+)?)/i.exec(typed)?.[1];
  if (number !== undefined) return valid.map((unit) => ({ label: `"${number} ${unit}"`, type: "constant" }));
  const known = [schema.default, ...(schema.examples ?? [])].filter(
    (value) => typeof value === "string" && /^\d/.test(value),
  );
  const start = known.length > 0 ? known : [`1 ${valid[0]}`];
  return start.map((value) => ({
    label: written(value),
    type: "constant",
    detail: value === schema.default ? "default" : "example",
  }));
}

/** What the key at `position` means, and the option that it has. */
export function hover(describe: Describe) {
  return (view: EditorView, position: number): Tooltip | null => {
    const text = view.state.doc.toString();
    const reading = read(text);
    const spot = spotAt(reading, position);
    if (!spot || spot.from === spot.to) return null;
    const texts = explain(describe, reading, spot, text);
    if (texts.length === 0) return null;
    return { pos: spot.from, end: spot.to, above: true, create: () => ({ dom: paragraphs(texts) }) };
  };
}

/** The help for what stands at `spot`. */
export function explain(describe: Describe, reading: Reading, spot: Spot, text: string): string[] {
  const word = text.slice(spot.from, spot.to).replace(/^["']|["']$/g, "");
  if (spot.kind !== "value") {
    const path = spot.kind === "header" ? [...latest(reading, spot.path), word] : [...spot.path, word];
    const schema = schemaFor(describe.schema, path, reading.values);
    return schema ? [dotted(path.filter((step) => typeof step === "string")), ...about(schema)] : [];
  }
  const isKind = spot.path.at(-1) === "kind";
  const path = isKind ? spot.path.slice(0, -1) : spot.path;
  const schema = schemaFor(describe.schema, path, reading.values);
  const meant = schema && meaning(describe, schema, lastName(path), word);
  return meant ? [word, meant] : [];
}
