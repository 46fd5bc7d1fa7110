// A trace of a run as CSV, with the columns, units and order of rows of the trace in Python. The page stores no rows of its runs, only what
// its charts draw; the run is repeated instead, and gives the same rows.

import type { AdvanceAnswer, Engine, Frame, ScenarioInfo, TablePlace } from "../engine/protocol.ts";
import { run } from "../engine/run.ts";

/** What to export. */
export interface CsvOptions {
  text: string;
  /** Name of the trace, such as "cwnd". */
  trace: string;
  settings?: [key: string, value: string][];
  onProgress?: (time: number, duration: number) => void;
  signal?: AbortSignal;
}

/** Rows in a piece of text; the file is made of pieces, so that no string becomes too long. */
const ROWS_AT_ONCE = 20_000;

/** The trace as the pieces of a CSV file; `undefined` if the signal stopped the run. */
export async function traceCsv(engine: Engine, options: CsvOptions): Promise<string[] | undefined> {
  const { text, trace, settings, onProgress, signal } = options;
  const frames: Frame<AdvanceAnswer>[] = [];
  let scenario: ScenarioInfo | undefined;
  const finished = await run(engine, text, {
    record: [trace],
    onOpen: (opened) => {
      scenario = opened;
    },
    onRows: (frame) => frames.push(frame),
    ...(settings && { settings }),
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  });
  return finished && scenario ? csv(frames, trace, scenario) : undefined;
}

type Cell = (row: number) => string;

/** The rows of `trace` in `frames`, sorted by time as in the finished run. */
export function csv(frames: Frame<AdvanceAnswer>[], trace: string, scenario: ScenarioInfo): string[] {
  const parts = frames.flatMap((frame) => {
    const table = frame.header.tables[trace];
    return table ? [{ table, columns: frame.columns(table), cells: cells(frame, table, scenario) }] : [];
  });
  const first = parts[0];
  if (!first) return [];
  const header = `${first.table.columns.map(({ name }) => quoted(name)).join(",")}\n`;
  // Rows of different flows or links come in any order; a stable sort by time gives that of the trace.
  const count = parts.reduce((sum, { table }) => sum + table.rows, 0);
  const times = new Float64Array(count);
  const owners = new Uint32Array(count);
  const rows = new Uint32Array(count);
  let at = 0;
  for (const [owner, { table, columns }] of parts.entries()) {
    times.set((columns["time"] as Float64Array | undefined) ?? new Float64Array(table.rows), at);
    owners.fill(owner, at, at + table.rows);
    for (let row = 0; row < table.rows; row += 1) rows[at + row] = row;
    at += table.rows;
  }
  const order = Uint32Array.from({ length: count }, (_, index) => index).sort(
    (one, other) => times[one]! - times[other]! || one - other,
  );
  const pieces = [header];
  for (let start = 0; start < count; start += ROWS_AT_ONCE) {
    const lines = Array.from(order.subarray(start, start + ROWS_AT_ONCE), (index) => {
      const row = rows[index]!;
      return parts[owners[index]!]!.cells.map((cell) => cell(row)).join(",");
    });
    pieces.push(`${lines.join("\n")}\n`);
  }
  return pieces;
}

/** A function for each column that gives a row's cell. */
function cells(frame: Frame<AdvanceAnswer>, table: TablePlace, scenario: ScenarioInfo): Cell[] {
  const names = { flows: scenario.flows.map(quoted), links: scenario.links.map(({ name }) => quoted(name)) };
  return table.columns.map((place): Cell => {
    const values = frame.column(place, table.rows);
    const words = place.words?.map(quoted) ?? (place.names && names[place.names]);
    return words ? (row) => words[values[row]!] ?? "" : (row) => number(values[row]!);
  });
}

/** A number as CSV has it; a missing value is an empty cell. */
const number = (value: number): string =>
  Number.isNaN(value) ? "" : Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";

/** A text as a cell (RFC 4180). */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
