// The engine's own numbers of the new runs, beside the stored ones.
import type { Recorded } from "../charts/recording.ts";
import type { FlowSummary } from "../engine/protocol.ts";
import { addSeries, type FigureSpec } from "../page/spec.ts";
import type { Again, RunData, Values } from "./data.ts";

/** The runs of one press, by cell and in the order of their repetitions. */
export interface Press {
  results: ReadonlyMap<number, Recorded[]>;
  chosen: readonly number[];
  /** The number of the press, from 1, and what names its series. */
  number: number;
  tag: string;
}

/** What a figure shows at one place: the values of all runs there, and the stored text. */
type Point = { panel: number; x: string; series: string; values: number[]; stored: string };

const GOODPUT = { metric: "goodput_bps", factor: 1e-6 };

/** Whether the engine reports what the figure shows. */
const isOwn = (again: Again): again is Values & { metric: string } => again.kind === "values" && again.metric !== null;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

const short = (value: number): string =>
  Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

/** A value, or the mean and the range of several. */
const spread = (values: readonly number[]): string =>
  short(mean(values)) + (values.length > 1 ? ` [${short(Math.min(...values))}, ${short(Math.max(...values))}]` : "");

/** A number of the engine's table of flows, in which the end of a slow start is a table of its own. */
export function numberOf(row: FlowSummary | undefined, column: string): number | null {
  const within = column.replace("slow_start_exit_", "");
  const table = within === column ? row : row?.slow_start_exit;
  const value = table && (table as unknown as { [column: string]: unknown })[within];
  return typeof value === "number" ? value : null;
}

/** A column of a flow, or its sum over the connections of an application; NaN if there is none. */
function numberIn({ summary: { flows } }: Recorded, flow: string, column: string): number {
  const own = flows.filter(({ name }) => name === flow || name.startsWith(`${flow}.`));
  return own.length ? sum(own.map((row) => numberOf(row, column) ?? Number.NaN)) : Number.NaN;
}

/** What the figure shows of the runs: its own measure if that is the engine's, otherwise their goodput. */
function pointsOf(spec: FigureSpec, again: Again, { results, chosen }: Press, { cells }: RunData): Point[] {
  const own = isOwn(again);
  const { metric, factor } = own ? again : GOODPUT;
  const points = new Map<string, Point>();
  for (const { cell, flow: given, panel, series, x = "", over, of } of again.runs) {
    if (!chosen.includes(cell)) continue;
    const flow = given ?? results.get(cell)![0]!.scenario.flows[0]!;
    const stored = cells[cell]!.stored[flow]?.[metric] ?? Number.NaN;
    const text = own ? storedText(spec, panel, x, series) : Number.isFinite(stored) ? short(stored * factor) : "";
    const key = JSON.stringify([panel, x, series]);
    const point = points.get(key) ?? { panel, x, series, values: [], stored: text };
    points.set(key, point);
    for (const [at, done] of results.get(cell)!.entries()) {
      const scale = over === undefined ? factor : 1 / numberIn(results.get(over)![at]!, of ?? flow, metric);
      const value = numberIn(done, flow, metric) * scale;
      if (Number.isFinite(value)) point.values.push(value);
    }
  }
  return [...points.values()].filter(({ values }) => values.length > 0);
}

/** The stored text of a point or of a cell of a map. */
function storedText(spec: FigureSpec, panel: number, x: string, series: string): string {
  const { heatmap: map, series: all } = spec.panels[panel]!;
  if (map) return map.texts[map.y.indexOf(series)]?.[map.x.indexOf(x)] ?? "";
  const stored = all?.find(({ name, again }) => name === series && !again);
  return stored?.texts?.[stored.x?.indexOf(x) ?? -1] ?? "";
}

/** A table of numbers beside the stored ones. */
export interface Compared {
  title: string;
  heads: string[];
  rows: string[][];
}

/** Draws the numbers as points if the figure shows that measure as points, and returns their table. */
export function showNumbers(spec: FigureSpec, again: Again, press: Press, data: RunData): Compared | undefined {
  const points = pointsOf(spec, again, press, data);
  if (!points.length) return undefined;
  const own = isOwn(again);
  for (const { panel, x, series, values } of own ? points : []) {
    const ends = { low: [Math.min(...values)], high: [Math.max(...values)] };
    const point = { x: [x], y: [mean(values)], texts: [spread(values)], ...ends };
    addSeries(spec, panel, series, { name: `${series}, ${press.tag}`, style: "again", again: press.number, ...point });
  }
  const { heatmap, y } = spec.panels[0]!;
  const heads = [own ? (heatmap?.unit ?? y.title) : "goodput (Mbit/s)", "again", "stored"];
  const rows = points.map(({ panel, x, series, values, stored }) => {
    const what = [spec.panels[panel]!.title, x, series].filter(Boolean).join(", ");
    return [what, spread(values), stored];
  });
  return { title: press.tag.replace("r", "R"), heads, rows };
}

/** Compares every stored number of the repeated runs. */
export function sameAsStored({ cells }: RunData, { chosen, results }: Press): string {
  let equal = 0;
  const different = new Set<string>();
  for (const cell of chosen) {
    for (const row of results.get(cell)![0]!.summary.flows) {
      for (const [column, value] of Object.entries(cells[cell]!.stored[row.name] ?? {})) {
        if (numberOf(row, column) === value) equal += 1;
        else different.add(column);
      }
    }
  }
  if (different.size) return `${equal} stored numbers of this run are equal; different: ${[...different].join(", ")}.`;
  return equal ? `All ${equal} stored numbers of this run are equal.` : "";
}
