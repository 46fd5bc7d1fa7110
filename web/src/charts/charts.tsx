// The charts of the page: one above the other, over the same times, with one cursor.
import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Chart, curves, note, offered, rateWindow, type View } from "./curves.ts";
import { type Curve, Plot, shown, stroke, valueAt } from "./panel.ts";

/** Times that the charts show, in seconds; undefined is the whole run. */
type Zoom = View["zoom"];

interface ChartsProperties {
  view: ReadonlySignal<View | undefined>;
  zoom: Signal<Zoom>;
  /** Charts with the same key share their cursor. */
  sync: string;
  /** Height of each chart in pixels; undefined for their own heights. */
  height: number | undefined;
}

/** The charts; nothing before the first row. */
export function Charts({ view: { value: view }, zoom, sync, height }: ChartsProperties): JSX.Element | null {
  const cursor = useSignal<number>();
  const spoken = useSignal("");
  const first = useRef<Plot | null>(null);
  if (!view) return null;
  const { runs, choice, visible } = view;
  const { duration } = runs[0]!.recording.scenario;
  const range = within(view.zoom ?? [0, duration], duration) ?? [0, duration];
  const onZoom = (next: Zoom) => {
    zoom.value = next;
  };
  const window = rateWindow(duration);
  const shownCharts = offered(runs, choice).filter(({ id }) => visible.includes(id));
  const panels = shownCharts.map((chart) => ({
    chart,
    curves: curves(chart, runs, choice, window),
    note: note(chart, runs, choice, window),
    height: height ?? chart.height,
  }));

  const press = (event: KeyboardEvent) => {
    const [from, to] = range;
    const at = Math.min(to, Math.max(from, cursor.value ?? (from + to) / 2));
    const step = (to - from) / (event.shiftKey ? 10 : 100);
    const scale = (factor: number) => onZoom(within([at - (at - from) * factor, at + (to - at) * factor], duration));
    /** Moves the cursor, and says the values there. */
    const speak = (time: number) => {
      first.current?.point(time);
      cursor.value = time;
      const values = panels.flatMap(({ chart, curves }) =>
        curves
          .filter(({ named, valued }) => named && valued)
          .map((curve) => `${curve.label} ${valueText(curve, time)} ${chart.unit}`),
      );
      spoken.value = `${shown(time)} s: ${values.join(", ")}`;
    };
    const acts: { [key: string]: () => void } = {
      ArrowLeft: () => speak(Math.max(from, at - step)),
      ArrowRight: () => speak(Math.min(to, at + step)),
      "+": () => scale(0.5),
      "=": () => scale(0.5),
      "-": () => scale(2),
      "0": () => onZoom(undefined),
      Escape: () => onZoom(undefined),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]!();
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset lays its charts out in its own way
    <div
      class="charts"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it has keys of its own
      tabIndex={0}
      role="group"
      aria-label="Charts. Left and right arrow: read the values at another time. Plus and minus: zoom. 0: the whole run."
      onDblClick={() => onZoom(undefined)}
      onKeyDown={press}
    >
      {panels.map((panel, at) => (
        <Panel
          key={panel.chart.id}
          {...panel}
          {...{ range, sync, cursor }}
          onZoom={(from, to) => onZoom(within([from, to], duration))}
          plotted={at === 0 ? first : undefined}
        />
      ))}
      <p class="unseen" role="status">
        {spoken}
      </p>
    </div>
  );
}

interface PanelProperties {
  chart: Chart;
  curves: Curve[];
  note: string;
  height: number;
  range: [from: number, to: number];
  sync: string;
  /** The time whose values the legend shows. */
  cursor: Signal<number | undefined>;
  onZoom: (from: number, to: number) => void;
  /** Gets the plot. */
  plotted: { current: Plot | null } | undefined;
}

/** A chart with title and legend. */
function Panel({ chart, curves, note, height, range, sync, cursor, onZoom, plotted }: PanelProperties): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const now = useRef<{ draw: () => void; onZoom: PanelProperties["onZoom"] }>(undefined);
  now.current = { draw: () => plot.current?.draw(curves, range, height), onZoom };
  useEffect(() => {
    const made = new Plot({
      ...{ place: place.current!, sync },
      onHover: (time) => {
        cursor.value = time;
      },
      onZoom: (from, to) => now.current!.onZoom(from, to),
    });
    plot.current = made;
    const sizes = new ResizeObserver(() => now.current!.draw());
    sizes.observe(place.current!);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => {
    if (plotted) plotted.current = plot.current ?? null;
  }, [plotted]);
  useEffect(() => now.current!.draw(), [curves, range[0], range[1], height]);
  return (
    <figure class="panel">
      <figcaption>
        <span class="strong">{chart.title}</span> <span class="soft">{note}</span>
        <div class="legend">
          {curves
            .filter(({ named }) => named)
            .map((curve) => (
              <span class="entry">
                <span
                  class={curve.kind === "dots" ? "swatch dot" : "swatch"}
                  style={{ background: stroke(curve.colour, curve.dash) }}
                />
                {`${curve.label} `}
                <Value curve={curve} cursor={cursor} />
              </span>
            ))}
        </div>
      </figcaption>
      <div class="plot" role="img" aria-label={`${chart.title} over time`} ref={place} />
    </figure>
  );
}

/** The value at the cursor. */
function Value({ curve, cursor }: { curve: Curve } & Pick<PanelProperties, "cursor">): JSX.Element {
  const time = cursor.value;
  return (
    <output class="value" hidden={!curve.valued}>
      {time === undefined || time > curve.end || !curve.valued ? "" : valueText(curve, time)}
    </output>
  );
}

const valueText = (curve: Curve, time: number): string => (time > curve.end ? "" : shown(valueAt(curve, time)));

/** The part of a range that lies in the run; undefined if that is the whole run. */
function within([from, to]: [number, number], duration: number): Zoom {
  const [low, high] = [Math.max(0, from), Math.min(duration, to)];
  return low <= 0 && high >= duration ? undefined : high - low > duration * 1e-7 ? [low, high] : undefined;
}
