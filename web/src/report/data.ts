// The data of a live report, as `ackclock/papers/alive.py` and `ackclock/reports/runs.py` write it.

/** Lines of a scenario that a repetition changes, or the place of its own text. */
export type Repeated = [name: string, changed: [line: number, text: string][] | number];

/** Sampling of runs; `exact` are formulas. */
export type Sampling = "seed" | "path" | "offset" | "exact";

/** What is measured beside the table of flows, as in `[[repeat]]` of a paper. */
export interface Measures {
  /** Begin and end in seconds, by the column of the bytes that arrived. */
  spans: { [column: string]: [number, number] };
  /** Begin and end in seconds, by the column of the mean cwnd. */
  cwnd: { [column: string]: [number, number] };
  derived: string[];
}

/** A cell: a scenario that the report repeats. */
export interface Cell {
  labels: { [label: string]: string };
  /** Place of its text, which is the first stored run. */
  text: number;
  /** Name of that run, such as "seed 1". */
  name: string;
  measures: number;
  sampling: Sampling;
  /** Places of lists of further repetitions; `common` seeds are the same in all cells. */
  seeds: { any?: number; own?: number; common?: number };
  /** Round-trip time without queues, in seconds. */
  rtt: number | null;
  /** Values of the first stored run, by flow and column. */
  stored: { [flow: string]: { [column: string]: number | string | null } };
}

/** A claim and its readings. */
export interface Claim {
  id: string;
  kind: "order" | "equal" | "bound" | "best";
  axis: string;
  where: { [label: string]: string };
  expected: string[][];
  rest: string[];
  lead: string[];
  of: string;
  to: string;
  sense: "" | "lowest" | "highest";
  low: number | null;
  high: number | null;
  quantifier: "all" | "any" | "most";
  tolerance: number;
  pool: string[];
  /** Places of the cells that it may select. */
  cells: number[];
  readings: Reading[];
}

/** A claim's stored verdict on one column. */
export interface Reading {
  metric: string;
  title: string;
  unit: string;
  verdict: Verdict;
  why: string | null;
  sampling: Sampling | "mixed";
  /** Why the page cannot judge it; empty if it can. */
  reason: string;
}

export type Verdict = "holds" | "does not hold" | "cannot tell" | "not run";

/** A row of a claim's sample: labels, sampling, number of the repetition, and columns. */
export interface Row {
  sampling: Sampling;
  unit: number;
  seeds?: "own" | "common" | null;
  paths?: "like" | "exact" | null;
  [column: string]: unknown;
}

/** Curves of a figure: cell, flow or link (null: the first flow), panel, name of the stored curve, and internal quantity. */
export type CurveRun = [cell: number, owner: string | null, panel: number, series: string, quantity?: string];

/** Values of a figure: cell, flow, panel, positions on the axes, and the cell and flow by which the value is divided. */
export type ValueRun = [
  cell: number,
  flow: string,
  panel: number,
  x: string,
  series: string,
  over?: number,
  of?: string,
];

/** Curves over time of a figure. */
export interface Curves {
  kind: "cwnd" | "throughput" | "rtt" | "queue" | "internals";
  /** Width of the bins of throughput, in seconds; null: a hundredth of the run. */
  bin: number | null;
  /** End of the curves, in seconds; null: that of the run. */
  end: number | null;
  /** Samples of cwnd in each point, which is their median; null: every change is drawn. */
  sampled: number | null;
  runs: CurveRun[];
}

/** Values of a figure: points or bars, or a grid of cells. */
export interface Values {
  kind: "values" | "grid";
  metric: string;
  title: string;
  /** Factor to the unit of the figure. */
  factor: number;
  /** A value of the metric: the figure shows the share of runs that have it. */
  equals: number | null;
  runs: ValueRun[];
}

/** What a figure shows of the runs. */
export type Again = Curves | Values;

/** Whether a figure shows values, not curves. */
export function isValues(again: Again): again is Values {
  return again.kind === "values" || again.kind === "grid";
}

/** Everything in a live report. */
export interface LiveData {
  texts: string[];
  repeated: Repeated[][];
  measures: Measures[];
  cells: Cell[];
  labels: string[];
  /** The label of flows, if a paper has one. */
  flows: string | null;
  formulas: Row[];
  claims: Claim[];
  command: string;
}

/** The text of the first stored run of a cell, or of one of its further repetitions. */
export function textOf(data: LiveData, cell: Cell, repeated?: Repeated): string {
  const base = data.texts[cell.text]!;
  if (!repeated) return base;
  const changed = repeated[1];
  if (typeof changed === "number") return data.texts[changed]!;
  const lines = base.split("\n");
  for (const [line, text] of changed) lines[line] = text;
  return lines.join("\n");
}
