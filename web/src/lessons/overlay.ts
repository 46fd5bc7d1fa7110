// Shows the runs of a lesson in the charts: those that it compares are kept, its scenario is the current one.
import { batch } from "@preact/signals";
import { type Lab, settled } from "../playground/lab.ts";
import type { Chart } from "../charts/curves.ts";
import type { Lesson } from "./lesson.ts";

/** The charts of the page that a lesson names. */
export const VISIBLE: { [name: string]: Chart["id"] } = {
  cwnd: "cwnd",
  queue: "queue",
  throughput: "throughput",
  sequence: "sequence",
  rtt: "delay",
  wait: "wait",
};

/** Runs a lesson's scenario, and keeps the runs that it compares. Stops before them when `signal` says so. */
export async function showRuns(lab: Lab, lesson: Lesson, signal: AbortSignal): Promise<void> {
  batch(() => {
    lab.kept.value = [];
    lab.zoom.value = undefined;
    lab.visible.value = lesson.charts.flatMap((name) => VISIBLE[name] ?? []);
    lab.prefer(lesson.scenario, { flows: lesson.flows });
  });
  lab.setText(lesson.scenario);
  const compared: { text: string; name: string }[] = [];
  for (const { name, edits } of lesson.compare) {
    const { header } = await lab.engine.ask({ do: "edit", text: lesson.scenario, set: edits });
    compared.push({ text: header.text, name });
  }
  if (signal.aborted) return;
  const kept = lab.compare(compared);
  if (compared.length > 0 && (await settled(() => finished(lab, lesson.scenario))) && !signal.aborted)
    lab.current.value = { ...lab.current.value!, name: lesson.base };
  await kept;
}

/** Whether the run of `text` came to its end; false if another text, or a fault, came instead. */
function finished({ text, error, running, current }: Lab, wanted: string): boolean | undefined {
  if (text.value !== wanted || error.value !== "") return false;
  const run = current.value;
  return !running.value && run?.text === wanted && run.summary ? true : undefined;
}
