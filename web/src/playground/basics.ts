// Duration and seed of a scenario as fields.
import { fill, h } from "../dom.ts";
import type { Edit, ScenarioInfo } from "../engine/protocol.ts";
import { format, parse } from "./quantity.ts";

/** Mounts the fields. `onEdit` gets the edits of the scenario that a value means. */
export function mountBasics(
  place: HTMLElement,
  onEdit: (edits: Edit[]) => void,
): { show(scenario: ScenarioInfo): void } {
  const duration = h("input", { type: "text", class: "quantity", autocomplete: "off", spellcheck: false });
  const seed = h("input", { type: "text", inputMode: "numeric", class: "quantity", autocomplete: "off" });
  let shown: ScenarioInfo | undefined;
  duration.addEventListener("change", () => {
    const text = duration.value.trim();
    const read = parse(/^[0-9.]+$/.test(text) ? `${text} s` : text, ["time"]);
    duration.setAttribute("aria-invalid", String(!read || read.value <= 0));
    if (read && read.value > 0) onEdit([["duration", JSON.stringify(/^[0-9.]+$/.test(text) ? `${text} s` : text)]]);
  });
  seed.addEventListener("change", () => {
    const valid = /^[0-9]+$/.test(seed.value.trim());
    seed.setAttribute("aria-invalid", String(!valid));
    if (valid) onEdit([["seed", seed.value.trim()]]);
  });
  fill(place, h("label", {}, "Duration", duration), h("label", {}, "Seed", seed));
  return {
    show(scenario) {
      if (shown?.duration !== scenario.duration) duration.value = format(scenario.duration, "time");
      if (shown?.seed !== scenario.seed) seed.value = String(scenario.seed);
      shown = scenario;
    },
  };
}
