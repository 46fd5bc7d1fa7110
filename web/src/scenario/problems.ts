// Where in the text a problem that the engine reports is written.

import type { Problem } from "../engine/protocol.ts";
import { dotted, isTable, type Reading, type Span } from "./toml.ts";

/** How the engine's message about a key that it does not know begins. */
const UNKNOWN_KEY = "there is no key ";

/** The value or key that `problem` is about; else its line, else the beginning of the text. */
export function locate(problem: Problem, reading: Reading, text: string): Span {
  const line = problem.line === null ? null : lineAt(text, problem.line);
  if (line && problem.column) {
    const from = Math.min(line.from + problem.column - 1, line.to);
    return from < line.to ? { from, to: line.to } : line;
  }
  const on = (span: Span) => line === null || (line.from <= span.from && span.from <= line.to);
  // The engine counts a single [flow] as flow 0.
  const single = isTable(reading.values["flow"]);
  let key = (problem.key ?? "").replace(/^flow\.0(\.|$)/, single ? "flow$1" : "flow.0$1");
  while (key !== "") {
    const entry = reading.entries.find(({ path, key: span }) => dotted(path) === key && on(span));
    if (entry) {
      const wholeKey = problem.message.startsWith(UNKNOWN_KEY) || entry.value.to <= entry.value.from;
      return wholeKey ? entry.key : entry.value;
    }
    const header = reading.headers.find(({ path, span }) => dotted(path) === key && span.to > 0 && on(span));
    if (header) return header.span;
    key = key.slice(0, Math.max(0, key.lastIndexOf(".")));
  }
  return line ?? lineAt(text, 1);
}

/** The line `number`, from 1, without its indentation and line end. */
function lineAt(text: string, number: number): Span {
  let from = 0;
  for (let line = 1; line < number; line += 1) {
    const end = text.indexOf("\n", from);
    if (end < 0) break;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  const content = text.slice(from, end < 0 ? undefined : end);
  const indent = content.length - content.trimStart().length;
  return { from: from + (content.trim() === "" ? 0 : indent), to: from + content.trimEnd().length };
}
