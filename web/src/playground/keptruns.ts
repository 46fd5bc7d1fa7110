// The runs that stay in the charts for comparison.
import { colour } from "../charts/colours.ts";
import { dashOf, onlyRun, runColour } from "../charts/curves.ts";
import { stroke } from "../charts/panel.ts";
import { fill, h } from "../dom.ts";
import type { Lab, Run } from "./lab.ts";

/** Mounts the list: rename, open again, remove. */
export function mountKept(place: HTMLElement, lab: Lab): void {
  let drawn = "";
  let shown: Run[] = [];
  lab.subscribe((state, before) => {
    if (state.kept === before.kept && state.current === before.current && state.choice === before.choice) return;
    place.hidden = state.kept.length === 0;
    if (place.hidden || place.querySelector("input:focus")) return;
    const labels = lab.labels().slice(1);
    // While a run is drawn, the buttons stay in place: a new button would miss the end of a click.
    const dashed = state.choice.flows.length > 1 && onlyRun(state.choice, lab.labels()) === undefined;
    const wanted = JSON.stringify([labels, dashed]);
    if (wanted === drawn && state.kept === shown) return;
    drawn = wanted;
    shown = state.kept;
    const buttons = () => [...place.querySelectorAll("button")];
    const focused = buttons().findIndex((button) => button.matches(":focus"));
    const change = (kept: Run[]) => {
      place.querySelector<HTMLElement>("input:focus")?.blur();
      lab.set({ kept });
    };
    fill(
      place,
      h("h2", {}, "Compared with"),
      h(
        "ul",
        { class: "kept" },
        state.kept.map((run, index) => {
          const swatch = h("span", { class: "swatch" });
          swatch.style.background = dashed
            ? stroke("var(--soft)", dashOf(index + 1))
            : stroke(colour(runColour(index + 1)));
          const field = h("input", { type: "text", value: labels[index]!, "aria-label": "Name of the kept run" });
          field.addEventListener("change", () =>
            change(
              state.kept.map((other) =>
                other === run ? { ...run, name: field.value.trim() || labels[index]! } : other,
              ),
            ),
          );
          return h(
            "li",
            {},
            swatch,
            field,
            h("button", { class: "quiet", on: { click: () => lab.setText(run.text) } }, "Open"),
            h(
              "button",
              {
                class: "quiet",
                "aria-label": `Remove ${labels[index]}`,
                on: { click: () => change(state.kept.filter((other) => other !== run)) },
              },
              "Remove",
            ),
          );
        }),
      ),
    );
    if (focused >= 0)
      buttons()
        .at(Math.min(focused, buttons().length - 1))
        ?.focus();
  });
  place.hidden = true;
}
