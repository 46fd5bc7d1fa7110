// Quantities of scenarios, such as "10 Mbit/s": reading and writing them.

/** Units by kind, each with its size in the kind's base unit. Texts are written in the first unit that fits. */
const UNITS = {
  rate: { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12 },
  time: { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 },
  share: { "%": 0.01 },
  packets: { packets: 1, packet: 1, segments: 1, segment: 1 },
  bdp: { BDP: 1 },
  bytes: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  number: { "": 1 },
} as const;

/** Units that the page writes. */
const WRITTEN: { [kind in Kind]: string[] } = {
  rate: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
  time: ["ns", "us", "ms", "s"],
  share: ["%"],
  packets: ["packets"],
  bdp: ["BDP"],
  bytes: ["B", "kB", "MB", "GB"],
  number: [""],
};

/** A kind of quantity. */
export type Kind = keyof typeof UNITS;

/** Reads a quantity of one of the kinds; undefined if it is none of them. */
export function parse(text: string, kinds: readonly Kind[]): { value: number; kind: Kind } | undefined {
  const match = /^\s*\+?([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)\s*$/.exec(text);
  if (!match) return undefined;
  for (const kind of kinds) {
    const size = (UNITS[kind] as { [unit: string]: number })[match[2]!];
    if (size !== undefined) return { value: Number(match[1]) * size, kind };
  }
  return undefined;
}

/** A typed text; a number alone gets a unit. */
export const withUnit = (text: string, unit: string): string => (/^[0-9.]+$/.test(text) ? `${text} ${unit}` : text);

/** Writes a value of a kind with at most three significant digits, as a scenario has it. */
export function format(value: number, kind: Kind): string {
  const units = UNITS[kind] as { [unit: string]: number };
  const unit =
    value === 0 && kind === "time"
      ? "s"
      : (WRITTEN[kind].findLast((name) => value >= units[name]! * 0.9995) ?? WRITTEN[kind][0]!);
  const amount = Number((value / units[unit]!).toPrecision(3));
  return `${kind === "packets" ? Math.round(amount) : amount} ${kind === "packets" && Math.round(amount) === 1 ? "packet" : unit}`.trimEnd();
}
