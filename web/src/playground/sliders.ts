// The sliders of the bottleneck, each with a field for an exact value.
import { fill, h } from "../dom.ts";
import type { Edit } from "../engine/protocol.ts";
import { type Knob, position, STEPS, stepped, valueAt } from "./knobs.ts";
import { format, type Kind, parse } from "./quantity.ts";

interface Row {
  element: HTMLElement;
  reason: HTMLElement;
  show(knob: Knob): void;
}

/** Mounted sliders. */
export interface Sliders {
  show(knobs: Knob[]): void;
}

/** Mounts the sliders, or those with the `wanted` ids. `onEdit` gets the edits of the scenario that a movement means. */
export function mountSliders(
  place: HTMLElement,
  onEdit: (edits: Edit[]) => void,
  wanted?: readonly Knob["id"][],
): Sliders {
  const rows = new Map<string, Row>();
  return {
    show(all) {
      const knobs = wanted ? all.filter(({ id }) => wanted.includes(id)) : all;
      for (const knob of knobs) {
        let row = rows.get(knob.id);
        if (!row) {
          row = makeRow(knob, onEdit);
          rows.set(knob.id, row);
        }
        row.show(knob);
        // A reason that all sliders share is seen once.
        const again = knob.disabled !== undefined && knob !== knobs[0] && knob.disabled === knobs[0]!.disabled;
        row.reason.classList.toggle("unseen", again);
      }
      if (place.childElementCount !== rows.size) fill(place, ...[...rows.values()].map(({ element }) => element));
    },
  };
}

const EXAMPLES: { [kind in Kind]: string } = {
  rate: "10 Mbit/s",
  time: "40 ms",
  share: "0.1 %",
  packets: "50 packets",
  bdp: "1 BDP",
  bytes: "64 kB",
  number: "2",
};

/** Keys that move a slider by one value. */
const ARROWS: { [key: string]: 1 | -1 } = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** Milliseconds after a key in which answers to earlier keys may come. */
const PATIENCE = 500;

let made = 0;

function makeRow(first: Knob, onEdit: (edits: Edit[]) => void): Row {
  let knob = first;
  // What the scenario does not know yet: the value that the reader gave last.
  let given: string | undefined;
  let latest = first.value;
  let pressed = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const text = (value: number) => (knob.zero && value === 0 ? "none" : format(value, knob.kind));
  const id = `knob-${++made}`;
  const slider = h("input", { type: "range", id, min: "0", max: String(STEPS), step: "1" });
  const field = h("input", { type: "text", class: "quantity", autocomplete: "off", spellcheck: false });
  const reason = h("p", { class: "reason", id: `${id}-reason` });
  field.setAttribute("aria-describedby", reason.id);
  slider.setAttribute("aria-describedby", reason.id);
  const label = h("label", { for: slider.id }, first.label);

  function set(value: number, kind: Kind): void {
    say("");
    given = knob.zero && value === 0 ? "none" : format(value, kind);
    onEdit(knob.set(value, kind));
  }
  function say(message: string): void {
    reason.textContent = message;
    field.setAttribute("aria-invalid", String(message !== "" && !slider.disabled));
  }

  function move(value: number): void {
    latest = value;
    field.value = text(value);
    slider.setAttribute("aria-valuetext", field.value);
    set(value, knob.kind);
  }

  slider.addEventListener("input", () => move(valueAt(knob, Number(slider.value))));
  // Neighbouring positions often have the same rounded value, which would move the slider back: a key goes to the next value.
  slider.addEventListener("keydown", (event) => {
    const direction = ARROWS[event.key];
    if (!direction || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const value = stepped(knob, latest, direction);
    if (value === latest) return;
    pressed = performance.now();
    slider.value = String(position(knob, value));
    move(value);
  });
  field.addEventListener("change", () => {
    const typed = field.value.trim();
    const bare = /^[0-9.]+$/.test(typed) ? parse(`${typed} ${field.dataset["unit"]}`, knob.kinds) : undefined;
    const read = knob.zero && typed === "none" ? { value: 0, kind: knob.kind } : (parse(typed, knob.kinds) ?? bare);
    if (!read || (read.value <= 0 && !knob.zero)) {
      say(`“${typed}” is not such a quantity: ${knob.kinds.map((kind) => `“${EXAMPLES[kind]}”`).join(" or ")}`);
      return;
    }
    set(read.value, read.kind);
  });

  function show(next: Knob): void {
    knob = next;
    label.textContent = next.label;
    field.setAttribute("aria-label", `${next.label}, exact value`);
    slider.disabled = field.disabled = next.disabled !== undefined;
    if (next.disabled !== undefined) say(next.disabled);
    else if (reason.textContent && field.getAttribute("aria-invalid") !== "true") say("");
    const written = text(next.value);
    // While the reader drags or presses keys, older answers must not move the slider back.
    clearTimeout(timer);
    if (given !== undefined && given !== written) {
      const left = pressed + PATIENCE - performance.now();
      if (left > 0) timer = setTimeout(() => show(next), left);
      if (left > 0 || slider.matches(":active")) return;
    }
    given = undefined;
    latest = next.value;
    field.value = next.disabled === undefined ? written : "–";
    field.dataset["unit"] = written.split(" ").at(-1) ?? "";
    slider.value = String(position(next, next.value));
    slider.setAttribute("aria-valuetext", field.value);
  }

  return {
    element: h("div", { class: "knob" }, label, field, slider, reason),
    reason,
    show,
  };
}
