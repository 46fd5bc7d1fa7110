// Duration and seed of a scenario as fields.
import type { JSX } from "preact";
import type { Edit, ScenarioInfo } from "../engine/protocol.ts";
import { Field } from "../controls.tsx";
import { format, parse, withUnit } from "./quantity.ts";

/** The fields. `onEdit` gets the edits of the scenario that a value means. */
export function Basics({ scenario, onEdit }: { scenario: ScenarioInfo; onEdit: (edits: Edit[]) => void }): JSX.Element {
  const setDuration = (typed: string) => {
    const text = withUnit(typed, "s");
    const read = parse(text, ["time"]);
    if (!read || read.value <= 0) return false;
    return onEdit([["duration", JSON.stringify(text)]]);
  };
  const setSeed = (text: string) => /^[0-9]+$/.test(text) && onEdit([["seed", text]]);
  return (
    <div class="basics">
      <label>
        Duration
        <Field class="quantity" value={format(scenario.duration, "time")} onCommit={setDuration} />
      </label>
      <label>
        Seed
        <Field class="quantity" inputMode="numeric" value={String(scenario.seed)} onCommit={setSeed} />
      </label>
    </div>
  );
}
