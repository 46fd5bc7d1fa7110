// The sliders that a notebook asks for: those of the bottleneck with other ends, and those of any key.
import { type Knob, knobs, type Values } from "../playground/knobs.ts";
import { format, type Kind, parse } from "../playground/quantity.ts";
import type { Options } from "./model.ts";

const KINDS: readonly Kind[] = ["rate", "time", "share", "packets", "bdp", "bytes", "number"];

/** Share of the upper end that is the smallest value of a slider from 0. */
const LEAST = 1e-3;

/** The sliders for a document. */
export function sliders(wanted: Options["sliders"], values: Values, limited: (queue: string) => boolean): Knob[] {
  const known = knobs(values, limited);
  return wanted.map(({ key, low, high }) => {
    const knob = known.find(({ id }) => id === key);
    if (low === null || high === null) return knob!;
    const ends = [read(low), read(high)] as const;
    if (!knob) return keyKnob(key, values, ends);
    if (ends[0].kind !== knob.kind && !knob.disabled) {
      const [value, end] = [format(knob.value, knob.kind), format(ends[1].value, ends[1].kind)];
      return { ...knob, disabled: `The scenario has “${value}”, and the ends of this slider are as “${end}”.` };
    }
    return { ...knob, ...spanned(ends) };
  });
}

interface Quantity {
  value: number;
  kind: Kind;
}

function read(end: string | number): Quantity {
  return typeof end === "number" ? { value: end, kind: "number" } : (parse(end, KINDS) ?? { value: 0, kind: "number" });
}

function spanned([low, high]: readonly [Quantity, Quantity]): Pick<Knob, "low" | "high" | "zero"> {
  return { low: low.value || high.value * LEAST, high: high.value, zero: low.value === 0 };
}

/** The slider of any key. Without a value in the document, it begins in the middle. */
function keyKnob(key: string, values: Values, ends: readonly [Quantity, Quantity]): Knob {
  const span = spanned(ends);
  const kind = ends[1].kind;
  const whole = ends.every(({ value, kind: each }) => each === "number" && Number.isInteger(value));
  const written = at(values, key.split("."));
  const found = typeof written === "string" || typeof written === "number" ? read(written) : undefined;
  const fits = found !== undefined && found.kind === kind;
  return {
    ...span,
    // An id only tells sliders apart.
    id: key as Knob["id"],
    label: key,
    kind,
    kinds: [kind],
    value: fits ? found.value : Math.sqrt(span.low * span.high),
    ...(written !== undefined && !fits && { disabled: "The scenario has a value here that this slider cannot show." }),
    set: (value) => [[key, literal(whole ? Math.round(value) : value, kind)]],
  };
}

function literal(value: number, kind: Kind): string {
  return kind === "number" ? String(Number(value.toPrecision(3))) : JSON.stringify(format(value, kind));
}

/** The value at a path; a list of tables without an index means its first table. */
function at(value: unknown, path: string[]): unknown {
  const [step, ...rest] = path;
  if (Array.isArray(value)) {
    const index = step !== undefined && /^\d+$/.test(step);
    return index ? at(value[Number(step)], rest) : at(value[0], path);
  }
  if (step === undefined) return value;
  return typeof value === "object" && value !== null ? at((value as Values)[step], rest) : undefined;
}
