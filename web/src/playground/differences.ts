// Names for runs by what differs between their scenarios.
import { flowsOf } from "../scenario/state.ts";
import { isTable, type Table } from "../scenario/toml.ts";
import type { Values } from "./knobs.ts";

/** Every value of a document by its key path, as text. */
function flatten(value: unknown, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  if (typeof value !== "object" || value === null) {
    found.set(path, String(value));
    return found;
  }
  for (const [key, inner] of Object.entries(value)) {
    for (const [name, text] of flatten(inner, path ? `${path}.${key}` : key)) found.set(name, text);
  }
  return found;
}

/** A label for each document: the values of the keys in which they differ; "default" for a key that is not written. */
export function differences(documents: Values[]): string[] {
  const flat = documents.map((values) => flatten(values));
  const keys = [...new Set(flat.flatMap((values) => [...values.keys()]))];
  const differ = keys.filter(
    (key) => new Set(flat.map((values) => values.get(key))).size > 1 && !key.startsWith("record"),
  );
  const labels = flat.map((values) =>
    differ
      .slice(0, 3)
      .map((key) => `${short(key, differ)} ${brief(values.get(key) ?? "default")}`)
      .join(", "),
  );
  return labels.map((label, index) => label + (differ.length > 3 ? ", …" : "") || `run ${index + 1}`);
}

/** Names that flows get if the scenario gives none. */
const NUMBERED = /^flow\d+$/;

/** What to call flows with numbers for names: the settings in which the flows of a document differ. */
export function flowTitles(values: Values, flows: readonly string[]): { [flow: string]: string } {
  const tables = flowsOf(values as Table).map((flow) => (isTable(flow) ? { ...flow, name: "" } : {}));
  const alike = new Set(tables.map((table) => JSON.stringify(table))).size === 1;
  if (tables.length !== flows.length || alike) return {};
  const labels = differences(tables);
  return Object.fromEntries(
    flows.flatMap((name, index) => (NUMBERED.test(name) ? [[name, `${name}: ${labels[index]}`]] : [])),
  );
}

/** Longest value in a label, in characters. */
const MOST_CHARACTERS = 28;

function brief(value: string): string {
  const characters = [...value];
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : value;
}

/** The end of a key path that tells it from the others. */
function short(key: string, keys: string[]): string {
  const parts = key.split(".").filter((part) => part !== "kind" || key === "kind");
  for (let count = 1; count < parts.length; count++) {
    const end = parts.slice(-count).join(".");
    const alike = keys.filter((other) => `.${other.replace(/\.kind$/, "")}`.endsWith(`.${end}`));
    if (alike.length <= 1) return end.replaceAll("_", " ");
  }
  return parts.join(".").replaceAll("_", " ");
}
