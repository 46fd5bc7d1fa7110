// A task with a progress bar that can be stopped, and its message.
import { fill, h } from "../dom.ts";

/** Buttons and progress of a task. */
export interface Task {
  element: HTMLElement;
  /** Says something below the buttons. */
  say(text: string, bad?: boolean): void;
}

/**
 * Makes the buttons of a task.
 *
 * `work` gets the signal that stops it, and reports the share that is done. It returns the text to show at its end.
 */
export function task(
  label: string,
  work: (signal: AbortSignal, progress: (share: number) => void) => Promise<string>,
  further: HTMLElement[] = [],
): Task {
  const start = h("button", { type: "button", class: "again-start" }, label);
  const stop = h("button", { type: "button", hidden: true }, "Stop");
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
  const message = h("p", { class: "again-said", role: "status" });
  let running: AbortController | undefined;
  const say = (text: string, bad = false) => {
    message.classList.toggle("note", bad);
    fill(message, text);
  };
  start.addEventListener("click", async () => {
    if (running) return;
    const controller = new AbortController();
    running = controller;
    start.disabled = true;
    stop.hidden = bar.hidden = false;
    bar.value = 0;
    say("");
    try {
      const text = await work(controller.signal, (share) => {
        bar.value = share;
      });
      say(controller.signal.aborted ? "Stopped." : text);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), true);
    } finally {
      running = undefined;
      start.disabled = false;
      stop.hidden = bar.hidden = true;
    }
  });
  stop.addEventListener("click", () => running?.abort());
  return { element: h("div", {}, h("div", { class: "again-buttons" }, start, stop, further, bar), message), say };
}

/** A disclosure whose contents are made when it is opened for the first time. */
export function disclosure(summary: string, make: (into: HTMLElement) => Promise<void>): HTMLElement {
  const body = h("div", { class: "again-body" });
  const element = h("details", { class: "small again" }, h("summary", {}, summary), body);
  const open = async () => {
    if (!element.open) return;
    element.removeEventListener("toggle", open);
    try {
      await make(body);
    } catch (error) {
      fill(body, h("p", { class: "note" }, error instanceof Error ? error.message : String(error)));
    }
  };
  element.addEventListener("toggle", open);
  return element;
}

/** A number with four digits. */
export function shortened(value: number): string {
  return Number.isFinite(value)
    ? Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 })
    : value > 0
      ? "∞"
      : "−∞";
}
