// The figures of a report: a figure is drawn when it comes into view, in the colours of the page.
import { createRef, render, type SVGAttributes } from "preact";
import { colourOf, DARK, dashOf, LIGHT, type Look } from "./look.ts";
import type { FigureSpec, LegendEntry } from "./spec.ts";
import { type Drawn, layoutOf, mapOf, tracesOf } from "./traces.ts";

/** An element in which plotly.js has drawn. */
type Plot = HTMLElement & { data?: { type: string; meta: string }[] };

/** What the page uses of plotly.js, whose program the report contains. */
declare const Plotly: {
  react(plot: Plot, traces: Drawn[], layout: Drawn, config: Drawn): Promise<unknown>;
  restyle(plot: Plot, update: Drawn): Promise<unknown>;
};

/** A figure in the page. */
export interface Figure {
  element: HTMLElement;
  spec: FigureSpec;
  /** Draws it after a change of its data, if it has been in view. */
  redraw(): void;
}

const CONFIG = {
  displaylogo: false,
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg", filename: "figure" },
  doubleClick: "reset",
};
/** Print has the light look and a page's width. */
const PRINTED = "680px";

/** Mounts the figures of the page, whose data are `specs`. */
export function mountFigures(elements: HTMLElement[], specs: FigureSpec[]): Figure[] {
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const look = () => (darkness.matches && !printing ? DARK : LIGHT);
  const all = elements.map((element) =>
    mount(element, specs[Number(element.dataset["figure"])]!, look, () => printing),
  );

  const watch = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watch.unobserve(target);
        const figure = all.find(({ element }) => element === target)!;
        void figure.draw().then(() => {
          figure.element.dataset["drawn"] = "yes";
        });
      }
    },
    { rootMargin: "400px" },
  );
  for (const { element } of all) watch.observe(element);

  const redraw = () => {
    for (const figure of all) figure.redraw();
  };
  darkness.addEventListener("change", redraw);
  let width = innerWidth;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  addEventListener("resize", () => {
    if (printing || innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
  let opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    printing = true;
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details.printed:not([open])")];
    for (const each of opened) each.open = true;
    for (const { element, draw } of all) {
      if (!element.checkVisibility()) continue;
      element.style.width = PRINTED;
      void draw();
    }
  });
  addEventListener("afterprint", () => {
    printing = false;
    for (const each of opened) each.open = false;
    for (const { element } of all) element.style.width = "";
    redraw();
  });
  return all;
}

function mount(
  element: HTMLElement,
  spec: FigureSpec,
  look: () => Look,
  printing: () => boolean,
): Figure & { draw: () => Promise<unknown> } {
  const legend = element.querySelector(".legend")!;
  const titled = spec.panels.length > 1;
  const places = spec.panels.map(() => createRef<HTMLDivElement>());
  render(
    spec.panels.map(({ title }, at) => (
      <div class="panel">
        {titled && title && <p>{title}</p>}
        <div class="plot" ref={places[at]!} />
      </div>
    )),
    element.querySelector(".panels")!,
  );
  const plots = places.map(({ current }): Plot => current!);
  let hidden = new Set<string>();
  let drawn = false;

  function drawPanel(plot: Plot, at: number): Promise<unknown> {
    const panel = spec.panels[at]!;
    const width = plot.clientWidth;
    const coarse = matchMedia("(pointer: coarse)").matches;
    const layout = layoutOf(panel, look(), width, coarse);
    let height = printing() ? 260 : titled ? 290 : width > 700 ? 400 : 320;
    let traces: Drawn[];
    if (panel.heatmap) {
      const map = mapOf(panel.heatmap, width);
      traces = [map.trace];
      Object.assign(layout["xaxis"] as Drawn, map.x);
      Object.assign(layout["yaxis"] as Drawn, map.y);
      layout.shapes.push(...map.shapes);
      height = Math.max(height, 110 + 21 * panel.heatmap.y.length);
    } else {
      traces = (panel.series ?? []).flatMap((series) => tracesOf(series, look()));
      for (const trace of traces) trace["visible"] = !hidden.has(String(trace["meta"]));
    }
    plot.style.height = `${height}px`;
    return Plotly.react(plot, traces, { ...layout, height, ...(printing() && { width }) }, CONFIG);
  }

  /** Hides curves, without drawing the others again. */
  function hide(names: Iterable<string>): void {
    hidden = new Set(names);
    showLegend();
    for (const plot of plots) {
      if (!plot.data || plot.data[0]?.type === "heatmap") continue;
      void Plotly.restyle(plot, { visible: plot.data.map(({ meta }) => !hidden.has(meta)) });
    }
  }

  function toggle(name: string): void {
    const others = [...hidden].filter((other) => other !== name);
    hide(hidden.has(name) ? others : [...others, name]);
  }

  function isolate(name: string): void {
    const others = spec.legend.map((entry) => entry.name).filter((other) => other !== name);
    hide(others.every((other) => hidden.has(other)) ? [] : others);
  }

  function showLegend(): void {
    const entries = spec.legend.length < 2 ? [] : spec.legend;
    const buttons = entries.map((entry) => (
      <button
        title="Click: show or hide. Double-click: show alone, or show all."
        aria-pressed={!hidden.has(entry.name)}
        onClick={() => toggle(entry.name)}
        onDblClick={() => isolate(entry.name)}
      >
        <svg width={20} height={12} aria-hidden="true">
          <path {...markOf(entry, look())} />
        </svg>
        {entry.name}
      </button>
    ));
    render(buttons, legend);
  }

  function draw(): Promise<unknown> {
    drawn = true;
    showLegend();
    return Promise.all(plots.map(drawPanel));
  }

  showLegend();
  return {
    element,
    spec,
    draw,
    redraw() {
      if (drawn) void draw();
    },
  };
}

/** The mark of a series in the legend. */
function markOf(entry: LegendEntry, look: Look): SVGAttributes<SVGPathElement> {
  const paint = colourOf(entry.colour, look);
  switch (entry.style) {
    case "bars":
      return { d: "M4 2h12v8h-12z", fill: paint };
    case "points":
      return { d: "M6 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0", fill: paint };
    case "again":
      return { d: "M10 0l2 4 4 2-4 2-2 4-2-4-4-2 4-2z", fill: paint, stroke: look.ink };
    case "printed":
      return { d: "M10 1l5 5-5 5-5-5z", fill: "none", stroke: paint, "stroke-width": 2 };
    default: {
      const dashes = { solid: "", dash: "5 3", dot: "2 2", dashdot: "5 2 2 2" }[dashOf(entry, look)]!;
      return { d: "M0 6h20", stroke: paint, "stroke-width": entry.faint ? 1.2 : 2.5, "stroke-dasharray": dashes };
    }
  }
}
