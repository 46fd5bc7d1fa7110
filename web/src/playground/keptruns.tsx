// The runs that stay in the charts for comparison.
import { type JSX, render } from "preact";
import { colour } from "../charts/colours.ts";
import { dashOf, onlyRun, runColour } from "../charts/curves.ts";
import { stroke } from "../charts/panel.ts";
import { Field } from "./field.tsx";
import type { Lab, Run } from "./lab.ts";

/** Mounts the list: rename, open again, remove. */
export function mountKept(place: HTMLElement, lab: Lab): void {
  place.hidden = true;
  lab.subscribe((state, before) => {
    if (state.kept === before.kept && state.current === before.current && state.choice === before.choice) return;
    place.hidden = state.kept.length === 0;
    render(<Kept lab={lab} />, place);
  });
}

function Kept({ lab }: { lab: Lab }): JSX.Element {
  const { kept, choice } = lab.get();
  const labels = lab.labels();
  const dashed = choice.flows.length > 1 && onlyRun(choice, labels) === undefined;
  const rename = (run: Run, name: string) =>
    lab.set({ kept: kept.map((other) => (other === run ? { ...run, name } : other)) });
  return (
    <>
      <h2>Compared with</h2>
      <ul class="kept">
        {kept.map((run, index) => {
          const label = labels[index + 1]!;
          const background = dashed ? stroke("var(--soft)", dashOf(index + 1)) : stroke(colour(runColour(index + 1)));
          // Without keys, the focus stays at its place in the list when a run is removed.
          return (
            <li>
              <span class="swatch" style={{ background }} />
              <Field value={label} onCommit={(text) => rename(run, text || label)} label="Name of the kept run" />
              <button type="button" class="quiet" onClick={() => lab.setText(run.text)}>
                Open
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${label}`}
                onClick={() => lab.set({ kept: kept.filter((other) => other !== run) })}
              >
                Remove
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
