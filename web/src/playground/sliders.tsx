// The sliders of the bottleneck, each with a field for an exact value.
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Edit } from "../engine/protocol.ts";
import { Field } from "../controls.tsx";
import { type Knob, position, STEPS, stepped, valueAt } from "./knobs.ts";
import { format, type Kind, parse, withUnit } from "./quantity.ts";

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

/** What the scenario does not know yet: the value that the reader gave last. */
interface Given {
  text: string;
  value: number;
  /** Position of the slider. */
  at: number;
  /** Time until which other values are answers to earlier keys. */
  until: number;
}

/** Gets the edits of the scenario that a movement means. */
type OnEdit = (edits: Edit[]) => void;

/** The sliders. */
export function Sliders({ knobs, onEdit }: { knobs: Knob[]; onEdit: OnEdit }): JSX.Element {
  return (
    <>
      {knobs.map((knob) => {
        // A reason that all sliders share is seen once.
        const again = knob !== knobs[0] && knob.disabled === knobs[0]!.disabled;
        return <Slider key={knob.id} {...{ knob, again, onEdit }} />;
      })}
    </>
  );
}

/** A slider; `again` if the one above says the same reason. */
function Slider({ knob, again, onEdit }: { knob: Knob; again: boolean; onEdit: OnEdit }): JSX.Element {
  const id = useId();
  const slider = useRef<HTMLInputElement>(null);
  const [given, setGiven] = useState<Given>();
  const [fault, setFault] = useState({ of: "", message: "" });
  const textOf = (value: number, kind = knob.kind) => (knob.zero && value === 0 ? "none" : format(value, kind));
  const known = textOf(knob.value);
  const text = knob.disabled === undefined ? (given?.text ?? known) : "–";

  useEffect(() => {
    if (!given) return;
    // While the reader drags or presses keys, older answers must not move the slider back.
    const forget = () => setGiven((now) => (now === given ? undefined : now));
    const left = given.until - performance.now();
    if (given.text !== known && left > 0) {
      const timer = setTimeout(forget, left);
      return () => clearTimeout(timer);
    }
    if (given.text === known || !slider.current!.matches(":active")) forget();
    return undefined;
  }, [knob]);

  function set(value: number, kind: Kind, at: number, until = 0): void {
    setFault({ of: "", message: "" });
    setGiven({ text: textOf(value, kind), value, at, until });
    onEdit(knob.set(value, kind));
  }

  function commit(typed: string): boolean {
    const bare = parse(withUnit(typed, known.split(" ").at(-1)!), knob.kinds);
    const read = knob.zero && typed === "none" ? { value: 0, kind: knob.kind } : (parse(typed, knob.kinds) ?? bare);
    if (!read || (read.value <= 0 && !knob.zero)) {
      const examples = knob.kinds.map((kind) => `“${EXAMPLES[kind]}”`).join(" or ");
      setFault({ of: text, message: `“${typed}” is not such a quantity: ${examples}` });
      return false;
    }
    set(read.value, read.kind, position(knob, read.kind === knob.kind ? read.value : knob.value));
    return true;
  }

  // Neighbouring positions often have the same rounded value, which would move the slider back: a key goes to the next value.
  function press(event: KeyboardEvent): void {
    const direction = ARROWS[event.key];
    if (!direction || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const latest = given?.value ?? knob.value;
    const value = stepped(knob, latest, direction);
    if (value !== latest) set(value, knob.kind, position(knob, value), performance.now() + PATIENCE);
  }

  const common = { disabled: knob.disabled !== undefined, "aria-describedby": `${id}-reason` };
  return (
    <div class="knob">
      <label for={id}>{knob.label}</label>
      <Field {...common} class="quantity" label={`${knob.label}, exact value`} value={text} onCommit={commit} />
      <input
        {...common}
        ref={slider}
        type="range"
        id={id}
        min="0"
        max={String(STEPS)}
        step="1"
        aria-valuetext={text}
        value={given?.at ?? position(knob, knob.value)}
        onInput={({ currentTarget: { value } }) => set(valueAt(knob, Number(value)), knob.kind, Number(value))}
        onKeyDown={press}
      />
      <p class={again && knob.disabled !== undefined ? "reason unseen" : "reason"} id={`${id}-reason`}>
        {knob.disabled ?? (fault.of === text ? fault.message : "")}
      </p>
    </div>
  );
}
