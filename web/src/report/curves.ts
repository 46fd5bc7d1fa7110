// Curves of a run over time, as the stored figures draw them.
import { quantile, type Ran } from "./measures.ts";

export interface Curve {
  x: number[];
  y: (number | null)[];
  step: boolean;
  /** Ends of the band that holds the middle 80 % of the samples of a point. */
  low?: (number | null)[];
  high?: (number | null)[];
}

const BINS = 600;
const SAMPLES = 500;
const BAND = [0.1, 0.5, 0.9] as const;

/** The curve of a flow's trace; undefined without rows. */
export function curve(
  run: Ran,
  kind: "cwnd" | "throughput" | "rtt" | "queue" | "internals",
  flow: string,
  {
    duration,
    bin,
    end,
    sampled,
    quantity,
  }: { duration: number; bin: number | null; end: number | null; sampled: number | null; quantity: string },
): Curve | undefined {
  if (kind === "throughput") return throughput(run, flow, duration, bin);
  const trace = run.trace(kind, flow);
  if (!trace) return undefined;
  const column = { cwnd: "cwnd", rtt: "rtt", queue: "packets", internals: "value" }[kind];
  const scale = kind === "rtt" ? 1e3 : 1;
  const x: number[] = [];
  const y: number[] = [];
  trace.time.forEach((time, at) => {
    if (kind === "internals" && trace["name"]![at] !== quantity) return;
    if (end !== null && time > end) return;
    x.push(time);
    y.push(Number(trace[column]![at]) * scale);
  });
  if (!x.length) return undefined;
  return kind === "cwnd" && sampled ? banded(x, y, end ?? duration, sampled) : thinned({ x, y, step: kind !== "rtt" });
}

/** Samples a step curve as the stored figures of papers: medians of `per` samples, with a band. */
export function banded(x: readonly number[], y: readonly number[], end: number, per: number): Curve {
  const made = {
    x: [] as number[],
    y: [] as (number | null)[],
    low: [] as (number | null)[],
    high: [] as (number | null)[],
  };
  let at = -1;
  for (let first = 0; first < SAMPLES; first += per) {
    const values: number[] = [];
    for (let sample = first; sample < first + per; sample++) {
      while (at + 1 < x.length && x[at + 1]! <= (sample + 0.5) * (end / SAMPLES)) at++;
      if (at >= 0) values.push(y[at]!);
    }
    const [low, middle, high] = BAND.map((share) => (values.length ? quantile(values, share) : null));
    made.x.push((first + per / 2) * (end / SAMPLES));
    made.y.push(middle!);
    made.low.push(low!);
    made.high.push(high!);
  }
  return { ...made, step: false };
}

/** Throughput in bins, in Mbit/s; a bin is a hundredth of the run, if it is not given. */
function throughput(run: Ran, flow: string, duration: number, bin: number | null): Curve | undefined {
  const trace = run.trace("delivered", flow);
  if (!trace) return undefined;
  const width = bin === null ? duration / 100 : Math.min(bin, duration);
  const edges = Array.from({ length: Math.ceil((duration + 1e-9) / width) }, (_, at) => at * width);
  let at = 0;
  const totals = edges.map((edge) => {
    while (at < trace.time.length && trace.time[at]! <= edge) at++;
    return at ? Number(trace["bytes"]![at - 1]) : 0;
  });
  const rates = totals.slice(1).map((total, place) => ((total - totals[place]!) * 8) / width / 1e6);
  return rates.length ? { x: edges, y: [...rates, rates.at(-1)!], step: true } : undefined;
}

/** Keeps the first, smallest, largest and last value of each bin of a long curve, which looks the same. */
export function thinned({ x, y, step }: { x: number[]; y: number[]; step: boolean }): Curve {
  if (x.length <= 4 * BINS) return { x, y, step };
  const first = x[0]!;
  const span = x.at(-1)! - first || 1;
  const group = (at: number) => Math.min(Math.floor(((x[at]! - first) / span) * BINS), BINS - 1);
  const kept = new Set<number>();
  for (let start = 0; start < x.length; ) {
    let end = start;
    let least = start;
    let most = start;
    while (end + 1 < x.length && group(end + 1) === group(start)) {
      end++;
      if (y[end]! < y[least]!) least = end;
      if (y[end]! > y[most]!) most = end;
    }
    for (const at of [start, least, most, end]) kept.add(at);
    start = end + 1;
  }
  const places = [...kept].sort((a, b) => a - b);
  return { x: places.map((at) => x[at]!), y: places.map((at) => y[at]!), step };
}
