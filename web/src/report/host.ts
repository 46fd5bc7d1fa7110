// What `ackclock/reports/templates/report.js` gives this program: the drawn figures.
import type { Again } from "./data.ts";

/** A series in the data of a figure; `style` "again" are points and curves of this page. */
export interface SeriesSpec {
  name: string;
  colour: number;
  style: string;
  x?: (number | string)[];
  x0?: number;
  dx?: number;
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  texts?: string[];
  faint?: boolean;
  group?: string;
  /** The number of the press that added it, from 1; the stored series have none. */
  again?: number;
}

export interface AxisSpec {
  title: string;
  log?: boolean;
  limits?: [low: number, high: number];
  /** The stored limits, if this page has widened them. */
  before?: [low: number, high: number];
}

export interface PanelSpec {
  title: string;
  y: AxisSpec;
  series?: SeriesSpec[];
  heatmap?: { x: string[]; y: string[]; texts: string[][]; unit: string };
}

export interface FigureSpec {
  legend: { name: string; colour: number; style: string; again?: number }[];
  panels: PanelSpec[];
  again?: Again;
}

export interface Figure {
  element: HTMLElement;
  spec: FigureSpec;
}

export interface Host {
  figures: Figure[];
  /** Draws a figure after a change of its data. */
  redraw(figure: Figure): void;
  /** The text of an element with compressed text. */
  unpack(id: string): Promise<string>;
}

/** Adds a series to a panel, in the colour of the series that it belongs to. */
export function addSeries(figure: Figure, panel: number, like: string, series: Omit<SeriesSpec, "colour">): void {
  const spec = figure.spec.panels[panel];
  if (!spec?.series) return;
  const known = figure.spec.legend.find((entry) => entry.name === like);
  const colour = known?.colour ?? figure.spec.legend.length;
  spec.series.push({ ...series, colour, group: like });
  widen(spec.y, series);
  if (figure.spec.legend.some((entry) => entry.name === series.name)) return;
  figure.spec.legend.push({
    name: series.name,
    colour,
    style: series.style,
    ...(series.again && { again: series.again }),
  });
}

/** Removes all series that this page added. */
export function removeSeries(figure: Figure): void {
  figure.spec.legend = figure.spec.legend.filter((entry) => !entry.again);
  for (const panel of figure.spec.panels) {
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
