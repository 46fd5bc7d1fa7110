// Shows the runs of a lesson in the charts: those that it compares are kept, its scenario is the current one.
import type { Lab, State } from "../playground/lab.ts";
import type { Chart } from "../charts/curves.ts";
import type { Lesson } from "./lesson.ts";

/** What a lesson needs of the laboratory. */
export type Bench = Pick<Lab, "get" | "set" | "subscribe" | "setText" | "keep" | "engine">;

/** The charts of the page that a lesson names. */
const VISIBLE: { [name: string]: Chart["id"] } = {
  cwnd: "cwnd",
  queue: "queue",
  throughput: "throughput",
  sequence: "sequence",
  rtt: "delay",
};

/** Runs everything that a lesson compares, and its scenario last. Stops when `signal` says so, or when the text changes otherwise. */
export async function showRuns(lab: Bench, lesson: Lesson, signal: AbortSignal): Promise<void> {
  const { engine } = lab;
  const visible = lesson.charts.flatMap((name) => VISIBLE[name] ?? []);
  lab.set({ kept: [], zoom: undefined, visible });
  for (const { name, edits } of lesson.compare) {
    const { header } = await engine.ask({ do: "edit", text: lesson.scenario, set: edits });
    if (signal.aborted) return;
    lab.setText(header.text);
    if (!(await finished(lab, header.text, signal))) return;
    const { current } = lab.get();
    if (current) lab.set({ kept: [...lab.get().kept, { ...current, name }] });
  }
  lab.setText(lesson.scenario);
  if (!(await finished(lab, lesson.scenario, signal))) return;
  const { current } = lab.get();
  if (current && lesson.compare.length > 0) lab.set({ current: { ...current, name: lesson.base } });
}

/** Waits for the run of `text` to end. False if another text, or a fault, came instead. */
function finished(lab: Bench, text: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (value: boolean) => {
      unsubscribe();
      signal.removeEventListener("abort", abort);
      resolve(value);
    };
    const abort = () => end(false);
    const look = (state: State) => {
      if (state.text !== text || state.error !== "") end(false);
      else if (!state.running && state.current?.text === text && state.current.summary) end(true);
    };
    const unsubscribe = lab.subscribe(look);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else look(lab.get());
  });
}
