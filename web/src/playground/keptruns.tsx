// The runs that stay in the charts for comparison.
import type { JSX } from "preact";
import { colour } from "../charts/colours.ts";
import { dashOf, onlyRun, runColour } from "../charts/curves.ts";
import { stroke } from "../charts/panel.ts";
import { Field } from "../controls.tsx";
import type { Lab, Run } from "./lab.ts";

/** The list: rename, open again, remove. */
export function Kept({ lab }: { lab: Lab }): JSX.Element {
  const kept = lab.kept.value;
  const labels = lab.labels.value.slice(-kept.length);
  const choice = lab.choice.value;
  const dashed = choice.flows.length > 1 && onlyRun(choice, lab.labels.value) === undefined;
  const rename = (run: Run, name: string) => {
    lab.kept.value = kept.map((other) => (other === run ? { ...run, name } : other));
  };
  const remove = (run: Run) => {
    lab.kept.value = kept.filter((other) => other !== run);
  };
  return (
    <section class="card kept-place" aria-label="Kept runs" hidden={kept.length === 0}>
      <h2>Compared with</h2>
      <ul class="kept">
        {kept.map((run, index) => {
          const label = labels[index]!;
          const background = dashed ? stroke("var(--soft)", dashOf(index + 1)) : stroke(colour(runColour(index + 1)));
          // Without keys, the focus stays at its place in the list when a run is removed.
          return (
            <li>
              <span class="swatch" style={{ background }} />
              <Field value={label} onCommit={(text) => rename(run, text || label)} label="Name of the kept run" />
              <button class="quiet" onClick={() => lab.setText(run.text)}>
                Open
              </button>
              <button class="quiet" aria-label={`Remove ${label}`} onClick={() => remove(run)}>
                Remove
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
