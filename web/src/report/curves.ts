// Curves of a run over time, as the stored figures draw them.
import type { Quantity, Recording } from "../charts/recording.ts";
import { dots, held, type Series, times } from "../charts/series.ts";
import type { Curves } from "./data.ts";

export interface Curve {
  x: number[];
  y: (number | null)[];
  style: "line" | "step";
  /** Ends of the band that holds the middle 80 % of the samples of a point. */
  low?: (number | null)[];
  high?: (number | null)[];
}

const BUCKETS = 1000;
const SAMPLES = 500;

/** The trace that the curves of a figure need. */
export const traceOf = ({ kind }: Curves): string => (kind === "throughput" ? "delivered" : kind);

/** The curve of a flow or link, given by its place; undefined if it has no samples. */
export function curve(recording: Recording, again: Curves, owner: number, quantity: string): Curve | undefined {
  const { kind, bin, sampled } = again;
  const { duration } = recording.scenario;
  const end = again.end ?? duration;
  const trace = traceOf(again) as Quantity;
  const series = recording.series(kind === "internals" ? `internals ${quantity}` : trace, owner);
  if (!series?.length) return undefined;
  if (kind === "throughput") return throughput(series, duration, bin);
  if (kind === "cwnd" && sampled) return medians(series, end, sampled);
  const grid = { from: 0, to: end, buckets: BUCKETS };
  const [x, y] = [times(grid), kind === "rtt" ? dots(series, grid) : held(series, grid, end)];
  if (kind !== "rtt") return { x, y, style: "step" };
  const there = y.flatMap((value, at) => (value === null ? [] : [at]));
  return { x: there.map((at) => x[at]!), y: there.map((at) => y[at]! * 1e3), style: "line" };
}

/** Throughput in bins, in Mbit/s. */
function throughput(series: Series, duration: number, bin: number | null): Curve | undefined {
  const width = bin === null ? duration / 100 : Math.min(bin, duration);
  const x = Array.from({ length: Math.ceil((duration + 1e-9) / width) }, (_, at) => at * width);
  const totals = x.map((edge) => series.at(edge) || 0);
  const y = totals.slice(1).map((total, at) => ((total - totals[at]!) * 8) / width / 1e6);
  return y.length ? { x, y: [...y, y.at(-1)!], style: "step" } : undefined;
}

/** Medians of `per` samples of a step curve, with a band, as in the figures of papers. */
function medians(series: Series, end: number, per: number): Curve {
  const points = Array.from({ length: Math.ceil(SAMPLES / per) }, (_, point) => {
    const values = Array.from({ length: per }, (_, at) => series.at((point * per + at + 0.5) * (end / SAMPLES)));
    const known = values.filter(Number.isFinite).sort((a, b) => a - b);
    return { x: (point * per + per / 2) * (end / SAMPLES), known };
  });
  const of = (share: number) => points.map(({ known }) => quantile(known, share));
  return { x: points.map(({ x }) => x), y: of(0.5), low: of(0.1), high: of(0.9), style: "line" };
}

/** A quantile of sorted values, between the two nearest; null if there are none. */
function quantile(sorted: readonly number[], share: number): number | null {
  if (!sorted.length) return null;
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}
