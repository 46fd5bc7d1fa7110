// The data of figures, as `ackclock/drawing/plotly.py` writes them.
import type { Again } from "../report/data.ts";

/** A curve, points, or bars; `style` "again" are points of a run in this page. */
export interface SeriesSpec {
  name: string;
  colour: number;
  style: "line" | "step" | "joined" | "points" | "bars" | "printed" | "again";
  /** Positions; evenly spaced ones are a start and a step. */
  x?: (number | string)[];
  x0?: number;
  dx?: number;
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  texts?: string[];
  faint?: boolean;
  group?: string;
  base?: number;
  hollow?: boolean[];
  /** The number of the press that added it, from 1; the stored series have none. */
  again?: number;
}

export interface AxisSpec {
  title: string;
  log?: boolean;
  names?: string[];
  limits?: [low: number, high: number];
  /** The stored limits, if this page has widened them. */
  before?: [low: number, high: number];
}

export interface HeatmapSpec {
  x: string[];
  y: string[];
  z: (number | null)[][];
  texts: string[][];
  ends: [low: number, high: number];
  colours: "sequence" | "gain" | "loss" | "ratio";
  unit: string;
  ticks?: [place: number, name: string][];
  framed?: [column: number, row: number][];
}

export interface PanelSpec {
  title: string;
  x: AxisSpec;
  y: AxisSpec;
  series?: SeriesSpec[];
  heatmap?: HeatmapSpec;
  references?: number[];
  band?: [low: number, high: number];
  bars?: [at: number, value: number][];
}

export interface LegendEntry {
  name: string;
  colour: number;
  style: SeriesSpec["style"];
  faint?: boolean;
  again?: number;
}

export interface FigureSpec {
  legend: LegendEntry[];
  panels: PanelSpec[];
  again?: Again;
}

/** Whether a series is a curve, not points or bars. */
export const isCurve = ({ style }: SeriesSpec): boolean => style === "line" || style === "step";

/** Adds a series to a panel, in the colour of the series that it belongs to. */
export function addSeries(spec: FigureSpec, panel: number, like: string, series: Omit<SeriesSpec, "colour">): void {
  const place = spec.panels[panel];
  if (!place?.series) return;
  const colour = spec.legend.find((entry) => entry.name === like)?.colour ?? spec.legend.length;
  place.series.push({ ...series, colour, group: like });
  widen(place.y, series);
  if (spec.legend.some((entry) => entry.name === series.name)) return;
  const { name, style, again } = series;
  spec.legend.push({ name, colour, style, ...(again && { again }) });
}

/** Removes all series that this page added. */
export function removeSeries(spec: FigureSpec): void {
  spec.legend = spec.legend.filter((entry) => !entry.again);
  for (const panel of spec.panels) {
    if (panel.series) panel.series = panel.series.filter((series) => !series.again);
    if (panel.y.before) panel.y.limits = panel.y.before;
  }
}

/** Widens an axis with limits, so that it shows the series. */
function widen(axis: AxisSpec, series: Pick<SeriesSpec, "y" | "low" | "high">): void {
  if (!axis.limits) return;
  axis.before ??= axis.limits;
  const all = [...series.y, ...(series.low ?? []), ...(series.high ?? [])];
  const values = all.filter((value): value is number => value !== null && (!axis.log || value > 0));
  const [low, high] = axis.limits;
  const most = Math.max(...values);
  const least = Math.min(...values);
  axis.limits = [
    least < low ? (axis.log ? least / 1.1 : least) : low,
    most > high ? most * (axis.log ? 1.1 : 1.05) : high,
  ];
}
