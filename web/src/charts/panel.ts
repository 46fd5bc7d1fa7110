// One chart: a uPlot whose points are those of the visible times, at the resolution of its pixels.
import uPlot from "uplot";
import { fill, h } from "../dom.ts";
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

/** What a panel shows, and its callbacks. */
export interface PanelOptions {
  title: string;
  unit: string;
  /** Panels with the same key share their cursor. */
  sync: string;
  /** Called with the time under the pointer, or undefined when the pointer leaves. */
  onHover: (time: number | undefined) => void;
  /** Called with the times that the reader marked. */
  onZoom: (from: number, to: number) => void;
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

/** A chart with title and legend. */
export class Panel {
  readonly element: HTMLElement;
  readonly #options: PanelOptions;
  readonly #place: HTMLElement;
  readonly #legend: HTMLElement;
  readonly #note: HTMLElement;
  #values: HTMLElement[] = [];
  #plot: uPlot | undefined;
  #style = "";
  #curves: Curve[] = [];
  #range: [from: number, to: number] = [0, 1];
  #height = 0;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#legend = h("div", { class: "legend" });
    this.#note = h("span", { class: "soft" });
    this.#place = h("div", { class: "plot", role: "img", "aria-label": `${options.title} over time` });
    this.element = h(
      "figure",
      { class: "panel" },
      h("figcaption", {}, h("span", { class: "strong" }, options.title), " ", this.#note, this.#legend),
      this.#place,
    );
    new ResizeObserver(() => {
      if (this.#plot && this.#place.clientWidth !== this.#plot.width)
        this.draw(this.#curves, this.#range, this.#note.textContent);
    }).observe(this.#place);
  }

  /** The chart's canvas, for exports. */
  get canvas(): HTMLCanvasElement | undefined {
    return this.#plot?.ctx.canvas;
  }

  /** Draws curves between two times, the first above the others. */
  draw(curves: Curve[], range: [from: number, to: number], note: string, height = this.#height): void {
    this.#height = height;
    this.#curves = curves;
    this.#range = range;
    if (this.#note.textContent !== note) this.#note.textContent = note;
    const width = this.#place.clientWidth;
    if (width === 0) return;
    const style = JSON.stringify([
      curves.map(({ label, kind, colour, width, dash, scaled, named }) => [
        label,
        kind,
        colour,
        width,
        dash,
        scaled,
        named,
      ]),
      themeColour("--soft", this.element),
    ]);
    if (style !== this.#style) {
      this.#style = style;
      this.#build(width);
      this.#name();
    } else if (this.#plot!.width !== width || this.#plot!.height !== height) {
      this.#plot!.setSize({ width, height });
    }
    const [from, to] = range;
    const grid: Grid = {
      from,
      to,
      buckets: Math.max(50, Math.min(2000, Math.round(this.#plot!.bbox.width / devicePixelRatio))),
    };
    this.#plot!.setData([times(grid), ...curves.map((curve) => points(curve, grid)).reverse()] as uPlot.AlignedData);
  }

  /** Shows the values at a time in the legend. */
  hover(time: number | undefined): void {
    const named = this.#curves.filter((curve) => curve.named);
    for (const [index, element] of this.#values.entries()) {
      const curve = named[index]!;
      element.textContent = time === undefined || time > curve.end || !curve.valued ? "" : shown(valueAt(curve, time));
    }
  }

  /** The names and values that the legend shows. */
  read(): string[] {
    const named = this.#curves.filter((curve) => curve.named);
    return named.flatMap((curve, index) =>
      curve.valued ? `${curve.label} ${this.#values[index]?.textContent ?? ""}` : [],
    );
  }

  /** Moves the cursor to a time, as the pointer would. */
  point(time: number): void {
    if (!this.#plot) return;
    this.#plot.setCursor({ left: this.#plot.valToPos(time, "x"), top: this.#plot.bbox.height / devicePixelRatio / 2 });
  }

  #name(): void {
    const named = this.#curves.filter((curve) => curve.named);
    this.#values = named.map((curve) => h("output", { class: "value", hidden: !curve.valued }));
    fill(
      this.#legend,
      named.map((curve, index) => {
        const swatch = h("span", { class: "swatch" });
        swatch.style.background = stroke(curve.colour, curve.dash);
        if (curve.kind === "dots") swatch.classList.add("dot");
        return h("span", { class: "entry" }, swatch, `${curve.label} `, this.#values[index]!);
      }),
    );
  }

  #build(width: number): void {
    this.#plot?.destroy();
    const { onHover, onZoom } = this.#options;
    const axis = {
      stroke: themeColour("--soft", this.element),
      font: "12px system-ui, sans-serif",
      grid: { stroke: themeColour("--line", this.element), width: 1 },
      ticks: { show: false },
    };
    this.#plot = new uPlot(
      {
        width,
        height: this.#height,
        padding: [6, 14, 0, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { show: false },
          y: false,
          sync: {
            key: this.#options.sync,
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
      this.#place,
    );
  }
}

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
