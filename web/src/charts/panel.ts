// One chart: a uPlot whose points are those of the visible times, at the resolution of its pixels.
import uPlot from "uplot";
import { dots, type Grid, held, type Points, rate, rates, type Series, times } from "./series.ts";

/** One curve of a panel. */
export interface Curve {
  label: string;
  series: Series;
  kind: "held" | "dots" | "rate";
  /** Seconds over which a rate is measured. */
  window?: number;
  /** Seconds that the run has reached. */
  end: number;
  /** Factor from the series to the panel's unit. */
  factor: number;
  colour: string;
  width: number;
  dash?: number[];
  /** Whether the vertical scale covers it. */
  scaled: boolean;
  /** Whether the legend names it. */
  named: boolean;
  /** Whether the legend shows its value at the cursor. */
  valued: boolean;
}

const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });

/** Text of a value in a chart; a dash if there is none. */
export function shown(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : number.format(value).replace("-", "−");
}

/** A line as the background of a swatch. */
export function stroke(colour: string, dash?: number[]): string {
  if (!dash) return colour;
  const [on = 4, off = 2] = dash;
  return `repeating-linear-gradient(90deg, ${colour} 0 ${on}px, transparent ${on}px ${on + off}px)`;
}

/** A colour of the page around an element, which uPlot needs as a value. */
export function themeColour(name: string, element: Element): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

/** What a plot needs besides its curves. */
interface PlotOptions {
  place: HTMLElement;
  /** Plots with the same key share their cursor. */
  sync: string;
  /** Called with the time under the pointer, or undefined when the pointer leaves. */
  onHover: (time: number | undefined) => void;
  /** Called with the times that the reader marked. */
  onZoom: (from: number, to: number) => void;
}

/** A plot of uPlot, which is made anew when its curves look different. */
export class Plot {
  readonly #options: PlotOptions;
  #plot: uPlot | undefined;
  #curves: Curve[] = [];
  #range: [from: number, to: number] = [0, 1];

  constructor(options: PlotOptions) {
    this.#options = options;
  }

  /** Draws curves between two times, the first above the others. */
  draw(curves: Curve[], range: [from: number, to: number], height: number): void {
    const same = curves.length === this.#curves.length && curves.every((curve, at) => alike(curve, this.#curves[at]!));
    this.#curves = curves;
    this.#range = range;
    const width = this.#options.place.clientWidth;
    if (width === 0) return;
    if (!this.#plot || !same) this.#build(width, height);
    const plot = this.#plot!;
    if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
    const [from, to] = range;
    const buckets = Math.max(50, Math.min(2000, Math.round(plot.bbox.width / devicePixelRatio)));
    const grid: Grid = { from, to, buckets };
    plot.setData([times(grid), ...curves.map((curve) => points(curve, grid)).reverse()] as uPlot.AlignedData);
  }

  /** Moves the cursor to a time, as the pointer would. */
  point(time: number): void {
    const plot = this.#plot;
    plot?.setCursor({ left: plot.valToPos(time, "x"), top: plot.bbox.height / devicePixelRatio / 2 });
  }

  destroy(): void {
    this.#plot?.destroy();
  }

  #build(width: number, height: number): void {
    this.#plot?.destroy();
    const { place, sync, onHover, onZoom } = this.#options;
    const axis = {
      stroke: () => themeColour("--soft", place),
      font: "12px system-ui, sans-serif",
      grid: { stroke: () => themeColour("--line", place), width: 1 },
      ticks: { show: false },
    };
    this.#plot = new uPlot(
      {
        width,
        height,
        padding: [6, 14, 0, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { show: false },
          y: false,
          sync: {
            key: sync,
            scales: ["x", null],
            filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
          },
        },
        scales: {
          x: { time: false, range: () => this.#range },
          y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.05 : 1] },
        },
        axes: [
          {
            ...axis,
            size: 26,
            gap: 4,
            values: (_plot, splits) => splits.map((split) => `${shown(split)}${split === splits[0] ? " s" : ""}`),
          },
          { ...axis, size: 52, gap: 4, values: (_plot, splits) => splits.map((split) => shown(split)) },
        ],
        series: [
          {},
          ...this.#curves.toReversed().map(
            (curve): uPlot.Series => ({
              stroke: curve.colour,
              width: curve.width,
              auto: curve.scaled,
              ...(curve.dash && { dash: curve.dash }),
              ...(curve.kind === "dots"
                ? {
                    paths: () => null,
                    points: { show: true, size: curve.width, width: 0, fill: curve.colour, stroke: curve.colour },
                  }
                : { points: { show: false } }),
              spanGaps: false,
            }),
          ),
        ],
        hooks: {
          setCursor: [
            (plot) => {
              const { left } = plot.cursor;
              onHover(left === undefined || left < 0 ? undefined : plot.posToVal(left, "x"));
            },
          ],
          setSelect: [
            (plot) => {
              const { left, width: marked } = plot.select;
              if (marked < 4) return;
              onZoom(plot.posToVal(left, "x"), plot.posToVal(left + marked, "x"));
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      [[], ...this.#curves.map(() => [])] as unknown as uPlot.AlignedData,
      place,
    );
  }
}

/** Whether two curves look the same, whatever their points are. */
const alike = (one: Curve, other: Curve): boolean =>
  (["kind", "colour", "width", "dash", "scaled"] as const).every((key) => String(one[key]) === String(other[key]));

/** The points of a curve on a grid. */
export function points(curve: Curve, grid: Grid): Points {
  const { series, kind, end, factor, window = 1 } = curve;
  const raw =
    kind === "held" ? held(series, grid, end) : kind === "dots" ? dots(series, grid) : rates(series, grid, end, window);
  return factor === 1 ? raw : raw.map((value) => (value === null ? null : value * factor));
}

/** The value of a curve at a time. */
export function valueAt(curve: Curve, time: number): number {
  const { series, kind, factor, window = 1 } = curve;
  return factor * (kind === "rate" ? rate(series, time, window) : series.at(time));
}
