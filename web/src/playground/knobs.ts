// What the sliders change: rate, round-trip time, buffer and loss of the bottleneck, and the first flow's amount of data, as keys of
// the scenario.
import type { Describe, Edit } from "../engine/protocol.ts";
import { format, type Kind, parse } from "./quantity.ts";

/** A document as JSON. */
export type Values = { [key: string]: unknown };

/** One slider. */
export interface Knob {
  id: "rate" | "rtt" | "buffer" | "loss" | "size";
  label: string;
  /** Value in the kind's base unit. */
  value: number;
  kind: Kind;
  /** Kinds that a typed text may have. */
  kinds: readonly Kind[];
  /** Ends of the slider. */
  low: number;
  high: number;
  /** Whether the left end of the slider means 0. */
  zero: boolean;
  /** Why the slider cannot be moved. */
  disabled?: string;
  /** The edits that set a value. */
  set(value: number, kind: Kind): Edit[];
}

/** Ends of a slider by kind, in base units. As in ns-2, a drop-tail queue with a limit of one packet drops every packet. */
const ENDS: { [kind in Kind]: [low: number, high: number] } = {
  rate: [1e5, 1e9],
  time: [1e-3, 2],
  share: [1e-5, 0.2],
  packets: [2, 10_000],
  bdp: [0.05, 20],
  bytes: [3e3, 1e8],
  number: [1, 1000],
};

const DEFAULTS = { rate: "10 Mbit/s", delay: "10 ms", queue: "50 packets" };
/** A slider for what the text of a scenario gives: delays without queues and without the transmission of packets. */
const PROPAGATION = "Round-trip propagation";
const BUFFER: readonly Kind[] = ["packets", "bdp", "bytes"];
const AMOUNT: readonly Kind[] = ["bytes", "packets"];

/** Whether the buffer of a queue, given by name, is its parameter `limit`. */
export function limited(describe: Pick<Describe, "parts">): (queue: string) => boolean {
  const queues = describe.parts["queue"] ?? [];
  return (name) =>
    queues.find((part) => part.name === name)?.params.some((parameter) => parameter.name === "limit") ?? false;
}

/** The sliders for a document; parts of queues whose buffer is a parameter `limit` are given by name. */
export function knobs(values: Values, limited: (queue: string) => boolean): Knob[] {
  const topology = table(values["topology"]);
  const line = listedLinks(topology);
  const place = line ? slowest(line) : undefined;
  const path = line ? `topology.${topology["kind"] === "explicit" ? "link" : "links"}.${place}` : "topology.bottleneck";
  const link = line ? (line[place!] ?? {}) : table(topology["bottleneck"]);
  const made = [
    rateKnob(link, path),
    line ? lineKnob(line, place!, path) : rttKnob(topology, link, values),
    bufferKnob(link["queue"] ?? DEFAULTS.queue, path, limited),
    lossKnob(link["loss"], path),
  ];
  const ofPath =
    line && place === undefined
      ? made.map((each) => ({ ...each, disabled: "This scenario has no one line of links. Change them in the text." }))
      : made;
  return [...ofPath, ...sizeKnobs(list(values["flow"]))];
}

/** The amount of data of the first flow; none if it has no limit, or one that is drawn. */
function sizeKnobs(flows: unknown[]): Knob[] {
  const given = table(flows[0])["size"];
  const read = typeof given === "string" ? parse(given, AMOUNT) : undefined;
  if (!read) return [];
  const path = flows.length > 1 ? "flow.0.size" : "flow.size";
  const set = (value: number, kind: Kind): Edit[] => [[path, quoted(value, kind)]];
  return [knob("size", "Amount of data", read.kind, read.value, set, { kinds: AMOUNT })];
}

/** The links that a scenario lists one by one, from the first flow's sender on; undefined if it has a bottleneck. */
function listedLinks(topology: Values): Values[] | undefined {
  if (topology["kind"] === "explicit") return list(topology["link"]).map(table);
  return topology["links"] === undefined ? undefined : list(topology["links"]).map(table);
}

/** The place of the slowest link, the first of equal ones; undefined for links that do not form one line. */
function slowest(links: Values[]): number | undefined {
  const joined = links.every(
    (link, place) => link["reverse"] !== "none" && (place === 0 || link["from"] === links[place - 1]!["to"]),
  );
  if (links.length === 0 || !joined) return undefined;
  const rates = links.map(({ rate }) => quantity(rate ?? DEFAULTS.rate, "rate"));
  return rates.indexOf(Math.min(...rates));
}

function knob(
  id: Knob["id"],
  label: string,
  kind: Kind,
  value: number,
  set: Knob["set"],
  more: Partial<Knob> = {},
): Knob {
  const [low, high] = ENDS[kind];
  return { id, label, kind, kinds: [kind], value, low, high, zero: false, set, ...more };
}

function rateKnob(link: Values, path: string): Knob {
  const given = link["rate"] ?? DEFAULTS.rate;
  const set = (rate: number): Edit[] => [[`${path}.rate`, quoted(rate, "rate")]];
  return knob("rate", "Bottleneck rate", "rate", quantity(given, "rate"), set, constant([given], "rate", "rate"));
}

/** A model of a quantity has settings of its own, so that no slider can read the quantity. */
function constant(given: unknown[], what: string, kind: Kind): Partial<Knob> {
  const model = given.find((value) => value !== undefined && !(typeof value === "string" && parse(value, [kind])));
  if (model === undefined) return {};
  if (Array.isArray(model)) {
    return { value: ENDS[kind][0], disabled: `A link has a list of ${what} models. Change it in the text.` };
  }
  const name = typeof model === "string" ? model : String(table(model)["kind"] ?? "constant");
  return {
    value: ENDS[kind][0],
    disabled: `The ${what} model “${name}” has settings of its own. Change them in the text.`,
  };
}

/** The round trip of listed links without queues and transmission; the delay of the slowest link follows it. */
function lineKnob(links: Values[], place: number, path: string): Knob {
  const delays = links.map((link) => {
    const there = quantity(link["delay"] ?? DEFAULTS.delay, "time");
    const back = table(link["reverse"])["delay"];
    return [there, back === undefined ? there : quantity(back, "time")] as const;
  });
  const value = delays.flat().reduce((sum, delay) => sum + delay, 0);
  const share = table(links[place]?.["reverse"])["delay"] === undefined ? 2 : 1;
  const fixed = value - share * (delays[place]?.[0] ?? 0);
  return knob(
    "rtt",
    PROPAGATION,
    "time",
    value,
    (rtt) => [[`${path}.delay`, quoted(Math.max(0, (rtt - fixed) / share), "time")]],
    constant(
      links.flatMap((link) => [link["delay"], table(link["reverse"])["delay"]]),
      "delay",
      "time",
    ),
  );
}

/** The round-trip time without queues and transmission; the delay of the bottleneck follows it. */
function rttKnob(topology: Values, bottleneck: Values, values: Values): Knob {
  const access = table(topology["access"]);
  const listed = list(topology["access_delays"]).map((delay) => quantity(delay, "time"));
  const near = listed.length > 0 ? Math.min(...listed) : quantity(access["delay"] ?? DEFAULTS.delay, "time");
  const middle = quantity(bottleneck["delay"] ?? DEFAULTS.delay, "time");
  const back = table(access["reverse"])["delay"];
  const backMiddle = table(bottleneck["reverse"])["delay"];
  const hops = topology["kind"] === "parking-lot" ? Number(topology["hops"] ?? 2) : 1;
  const fixed =
    2 * near +
    2 * (back === undefined ? near : quantity(back, "time")) +
    (backMiddle === undefined ? 0 : hops * quantity(backMiddle, "time"));
  const share = hops * (backMiddle === undefined ? 2 : 1);
  const value = fixed + share * middle;
  // With equal access links, a short round trip is shared out; with listed delays they are its lower bound.
  const adjustable = listed.length === 0 && back === undefined && backMiddle === undefined;
  const several = list(values["flow"]).length > 1 && listed.length > 1;
  const set = (rtt: number): Edit[] => {
    const rest = (rtt - fixed) / share;
    if (rest > rtt / 20 || !adjustable) return [["topology.bottleneck.delay", quoted(Math.max(0, rest), "time")]];
    return [
      ["topology.access.delay", quoted(rtt / 8, "time")],
      ["topology.bottleneck.delay", quoted(rtt / 2 / share, "time")],
    ];
  };
  return knob(
    "rtt",
    several ? `Shortest ${PROPAGATION.toLowerCase()}` : PROPAGATION,
    "time",
    value,
    set,
    constant([access["delay"], back, bottleneck["delay"], backMiddle], "delay", "time"),
  );
}

function bufferKnob(queue: unknown, path: string, limited: (queue: string) => boolean): Knob {
  const key = `${path}.queue`;
  const label = "Buffer";
  const disabled = (reason: string) =>
    knob("buffer", label, "packets", 1, () => [], { kinds: BUFFER, disabled: reason });
  const adjusted = (limit: unknown, at: string, literal: (text: string) => string): Knob => {
    const read = typeof limit === "string" ? parse(limit, BUFFER) : undefined;
    if (!read) return disabled("The text gives no limit of the queue that this slider can read.");
    return knob("buffer", label, read.kind, read.value, (value, kind) => [[at, literal(format(value, kind))]], {
      kinds: BUFFER,
    });
  };
  if (queue === "unlimited") {
    return knob("buffer", label, "packets", ENDS.packets[1], (value, kind) => [[key, quoted(value, kind)]], {
      kinds: BUFFER,
    });
  }
  if (typeof queue === "string") {
    if (parse(queue, BUFFER)) return adjusted(queue, key, (text) => JSON.stringify(text));
    if (!limited(queue)) return disabled(`The queue “${queue}” has no limit.`);
    return adjusted(
      DEFAULTS.queue,
      key,
      (text) => `{ kind = ${JSON.stringify(queue)}, limit = ${JSON.stringify(text)} }`,
    );
  }
  const kind = String(table(queue)["kind"] ?? "droptail");
  if (!limited(kind)) return disabled(`The queue “${kind}” has no limit.`);
  return adjusted(table(queue)["limit"] ?? DEFAULTS.queue, `${key}.limit`, (text) => JSON.stringify(text));
}

function lossKnob(loss: unknown, path: string): Knob {
  const key = `${path}.loss`;
  const label = "Random loss";
  const at = (place: string, text: unknown): Knob =>
    knob(
      "loss",
      label,
      "share",
      text === undefined || text === "none" ? 0 : quantity(text, "share"),
      (value) => [[place, place === key && value === 0 ? '"none"' : quoted(value, "share")]],
      { zero: true },
    );
  if (Array.isArray(loss))
    return { ...at(key, undefined), disabled: "The link has a list of loss models. Change it in the text." };
  if (loss === undefined || typeof loss === "string") {
    if (loss === undefined || loss === "none" || parse(loss, ["share"])) return at(key, loss);
    return {
      ...at(key, undefined),
      disabled: `The loss model “${loss}” has settings of its own. Change them in the text.`,
    };
  }
  const kind = String(table(loss)["kind"] ?? "bernoulli");
  if (kind === "bernoulli") return at(`${key}.rate`, table(loss)["rate"]);
  return {
    ...at(key, undefined),
    disabled: `The loss model “${kind}” has settings of its own. Change them in the text.`,
  };
}

/** Positions of a slider from 0 to this. */
export const STEPS = 1000;

/** Position of a value on the slider's logarithmic scale. */
export function position({ low, high, zero }: Knob, value: number): number {
  if (value <= 0) return 0;
  const share = Math.log(value / low) / Math.log(high / low);
  return Math.max(zero ? 1 : 0, Math.min(STEPS, Math.round(share * STEPS)));
}

/** Value at a position, with two significant digits, or three from 10 on. */
export function valueAt({ low, high, zero, kind }: Knob, at: number): number {
  if (zero && at <= 0) return 0;
  const value = low * (high / low) ** (at / STEPS);
  const rounded = Number(value.toPrecision(2));
  return kind === "packets" ? Math.round(rounded) : rounded;
}

/** The next value that the slider can have above (1) or below (−1) a value; the value itself at the end of the slider. */
export function stepped(knob: Knob, value: number, direction: 1 | -1): number {
  for (let at = position(knob, value) + direction; at >= 0 && at <= STEPS; at += direction) {
    const next = valueAt(knob, at);
    // A value that was read, such as 4.1 · 10⁶, is not always the nearest number.
    if ((next - value) * direction > 1e-9 * value) return next;
  }
  return value;
}

function table(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function quantity(text: unknown, kind: Kind): number {
  return typeof text === "string" ? (parse(text, [kind])?.value ?? 0) : 0;
}

function quoted(value: number, kind: Kind): string {
  return JSON.stringify(format(value, kind));
}
