// The charts of the page: one above the other, over the same times, with one cursor.
import { fill, h } from "../dom.ts";
import { onScheme } from "./colours.ts";
import { CHARTS, type Chart, type Choice, curves, type Drawn, note, rateWindow } from "./curves.ts";
import { Panel, shown } from "./panel.ts";

/** What the charts show. */
export interface View {
  runs: Drawn[];
  choice: Choice;
  visible: Chart["id"][];
  /** Times that the reader zoomed into, in seconds; undefined shows the whole run. */
  zoom: [from: number, to: number] | undefined;
}

/** The charts, and how they report what the reader does. */
export class Charts {
  readonly element: HTMLElement;
  readonly #panels: { chart: Chart; panel: Panel }[];
  readonly #spoken: HTMLElement;
  #view: View | undefined;
  #frame = 0;
  #cursor: number | undefined;
  #height: number | undefined;

  constructor(onZoom: (range: [from: number, to: number] | undefined) => void, sync = "ackclock", height?: number) {
    this.#height = height;
    const zoom = (from: number, to: number) => onZoom(within([from, to], this.duration));
    this.#panels = CHARTS.map((chart) => ({
      chart,
      panel: new Panel({
        title: chart.title,
        unit: chart.unit,
        sync,
        onHover: (time) => this.#hover(time),
        onZoom: zoom,
      }),
    }));
    this.#spoken = h("p", { class: "unseen", role: "status" });
    this.element = h(
      "div",
      {
        class: "charts",
        tabIndex: 0,
        role: "group",
        "aria-label":
          "Charts. Left and right arrow: read the values at another time. Plus and minus: zoom. 0: the whole run.",
        on: {
          dblclick: () => onZoom(undefined),
          keydown: (event) => this.#key(event as KeyboardEvent, onZoom),
        },
      },
      this.#panels.map(({ panel }) => panel.element),
      this.#spoken,
    );
    onScheme(() => this.redraw());
  }

  /** Seconds that the current run takes. */
  get duration(): number {
    return this.#view?.runs[0]?.recording.scenario.duration ?? 1;
  }

  /** Seconds that the charts show. */
  get range(): [from: number, to: number] {
    return within(this.#view?.zoom ?? [0, this.duration], this.duration) ?? [0, this.duration];
  }

  /** Height of each chart in pixels; undefined for their own heights. */
  set height(height: number | undefined) {
    this.#height = height;
    this.redraw();
  }

  /** Shows something else, at the next frame of the screen. */
  show(view: View): void {
    this.#view = view;
    this.redraw();
  }

  /** Draws at the next frame of the screen; the rows of the runs may have grown. */
  redraw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** Titles and canvases of the visible charts, for exports. */
  canvases(): { title: string; canvas: HTMLCanvasElement }[] {
    return this.#panels.flatMap(({ chart, panel }) =>
      panel.canvas && !panel.element.hidden ? [{ title: `${chart.title} (${chart.unit})`, canvas: panel.canvas }] : [],
    );
  }

  #draw(): void {
    if (!this.#view) return;
    const { runs, choice, visible } = this.#view;
    const window = rateWindow(this.duration);
    for (const { chart, panel } of this.#panels) {
      panel.element.hidden = !visible.includes(chart.id);
      if (panel.element.hidden) continue;
      panel.draw(
        curves(chart, runs, choice, window),
        this.range,
        note(chart, runs, choice, window),
        this.#height ?? chart.height,
      );
    }
    this.#hover(this.#cursor);
  }

  #hover(time: number | undefined): void {
    this.#cursor = time;
    for (const { panel } of this.#panels) if (!panel.element.hidden) panel.hover(time);
  }

  #key(event: KeyboardEvent, onZoom: (range: [number, number] | undefined) => void): void {
    const [from, to] = this.range;
    const at = Math.min(to, Math.max(from, this.#cursor ?? (from + to) / 2));
    const step = (to - from) / (event.shiftKey ? 10 : 100);
    const zoom = (factor: number) =>
      onZoom(within([at - (at - from) * factor, at + (to - at) * factor], this.duration));
    switch (event.key) {
      case "ArrowLeft":
        this.#speak(Math.max(from, at - step));
        break;
      case "ArrowRight":
        this.#speak(Math.min(to, at + step));
        break;
      case "+":
      case "=":
        zoom(0.5);
        break;
      case "-":
        zoom(2);
        break;
      case "0":
      case "Escape":
        onZoom(undefined);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** Moves the cursor by keyboard, and says the values there. */
  #speak(time: number): void {
    const seen = this.#panels.filter(({ panel }) => !panel.element.hidden);
    seen[0]?.panel.point(time);
    this.#hover(time);
    const values = seen.flatMap(({ chart, panel }) => panel.read().map((text) => `${text} ${chart.unit}`));
    fill(this.#spoken, `${shown(time)} s: ${values.join(", ")}`);
  }
}

/** The part of a range that lies in the run; undefined if that is the whole run. */
function within([from, to]: [number, number], duration: number): [number, number] | undefined {
  const [low, high] = [Math.max(0, from), Math.min(duration, to)];
  return low <= 0 && high >= duration ? undefined : high - low > duration * 1e-7 ? [low, high] : undefined;
}
