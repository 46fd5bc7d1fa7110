// What a live report knows of its runs, as `ackclock/reports/live.py` describes it.

/** A scenario that the report repeats. */
export interface Cell {
  labels: { [label: string]: string };
  /** The first stored run, such as "seed 1", then further ones that are not stored, with the places of their texts. */
  runs: [name: string, text: number][];
  /** Columns of the engine in the first stored run, by flow. */
  stored: { [flow: string]: { [column: string]: number | null } };
}

export interface RunData {
  /** Scenarios with every default. */
  texts: string[];
  cells: Cell[];
}

/** What a figure shows of one flow in a cell. */
export interface Shown {
  cell: number;
  /** The flow, for a queue the link; null: the first flow. */
  flow: string | null;
  panel: number;
  /** Name of the stored series. */
  series: string;
  /** Of a curve of an internal quantity: its name, if it is not that of the series. */
  quantity?: string;
  /** Of a value: its place on the axis, and the cell and flow by which it is divided. */
  x?: string;
  over?: number;
  of?: string;
}

/** Curves over time of a figure. */
export interface Curves {
  kind: "cwnd" | "throughput" | "rtt" | "queue" | "internals";
  /** Width of the bins of throughput, in seconds; null: a hundredth of the run. */
  bin: number | null;
  /** End of the curves, in seconds; null: that of the run. */
  end: number | null;
  /** Samples of cwnd in each point, which is their median; null: every change is drawn. */
  sampled: number | null;
  runs: Shown[];
}

/** Points, bars or a map. */
export interface Values {
  kind: "values";
  /** A column of the engine; null: the figure shows a measure that only the program derives. */
  metric: string | null;
  /** Factor to the unit of the figure. */
  factor: number;
  runs: Shown[];
}

export type Again = Curves | Values;
