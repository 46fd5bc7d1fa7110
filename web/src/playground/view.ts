// What the charts draw, from the state of the laboratory.
import type { View } from "../charts/group.ts";
import { flowTitles } from "./differences.ts";
import type { Lab } from "./lab.ts";

/** The current run and those kept, with their labels; undefined before the first row. */
export function viewOf(lab: Lab): View | undefined {
  const { current, kept, choice, visible, zoom } = lab.get();
  if (!current) return undefined;
  const labels = lab.labels();
  const runs = [current, ...kept].map(({ recording, values }, index) => ({
    recording,
    label: labels[index]!,
    titles: flowTitles(values, recording.scenario.flows),
  }));
  return { runs, choice, visible, zoom };
}
