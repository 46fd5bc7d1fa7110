// Shows the runs of a lesson in the charts: those that it compares are kept, its scenario is the current one.
import type { Lab, State } from "../playground/lab.ts";
import type { Chart } from "../charts/curves.ts";
import type { Lesson } from "./lesson.ts";

/** What a lesson needs of the laboratory. */
export type Bench = Pick<Lab, "get" | "set" | "subscribe" | "setText" | "compare" | "engine">;

/** The charts of the page that a lesson names. */
const VISIBLE: { [name: string]: Chart["id"] } = {
  cwnd: "cwnd",
  queue: "queue",
  throughput: "throughput",
  sequence: "sequence",
  rtt: "delay",
  wait: "wait",
};

/** Runs a lesson's scenario, and keeps the runs that it compares. Stops before them when `signal` says so. */
export async function showRuns(lab: Bench, lesson: Lesson, signal: AbortSignal): Promise<void> {
  const visible = lesson.charts.flatMap((name) => VISIBLE[name] ?? []);
  lab.set({ kept: [], zoom: undefined, visible, preferred: lesson.flows });
  lab.setText(lesson.scenario);
  const compared: { text: string; name: string }[] = [];
  for (const { name, edits } of lesson.compare) {
    const { header } = await lab.engine.ask({ do: "edit", text: lesson.scenario, set: edits });
    compared.push({ text: header.text, name });
  }
  if (signal.aborted) return;
  const kept = lab.compare(compared);
  if (compared.length > 0 && (await finished(lab, lesson.scenario, signal)))
    lab.set({ current: { ...lab.get().current!, name: lesson.base } });
  await kept;
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
