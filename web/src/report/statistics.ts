// Means, ratios and their intervals: the same rules as `ackclock.statistics.intervals` and `.ratios`, which a test compares.
import type { Sampling } from "./data.ts";

/** A mean or ratio and its interval; a note says why its ends are infinite. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
  count: number;
  note: string;
}

/** Columns whose values lie between bounds, and so do their intervals. */
export const BOUNDS: { [column: string]: [number, number] } = {
  jain: [0, 1],
  share: [0, 1],
  loss_rate: [0, 1],
  resent: [0, 1],
};
const MOST_UNSEEN = 0.5;

/** The sum of numbers, rounded once (Shewchuk 1997), as Python's `math.fsum`. */
export function sum(values: Iterable<number>): number {
  const partials: number[] = [];
  for (let x of values) {
    let count = 0;
    for (let y of partials) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low) partials[count++] = low;
      x = high;
    }
    partials.length = count;
    partials.push(x);
  }
  let at = partials.length - 1;
  if (at < 0) return 0;
  let high = partials[at]!;
  let low = 0;
  while (at > 0) {
    const x = high;
    const y = partials[--at]!;
    high = x + y;
    low = y - (high - x);
    if (low) break;
  }
  // Half a unit in the last place is rounded by the sign of the next partial.
  if (at > 0 && Math.sign(low) === Math.sign(partials[at - 1]!)) {
    const twice = low * 2;
    if (high + twice - high === twice) high += twice;
  }
  return high;
}

/** The arithmetic mean, rounded twice. */
export const mean = (values: readonly number[]) => sum(values) / values.length;

/** The logarithm of the gamma function at a positive number (Lanczos, g = 7). */
function logGamma(x: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const t = x + 6.5;
  const series = coefficients.slice(1).reduce((total, c, at) => total + c / (x + at), coefficients[0]!);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series);
}

/** The regularized incomplete beta function by its continued fraction (Lentz). */
function beta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x) - Math.log(a),
  );
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return front * fraction;
}

const quantiles = new Map<string, number>();

/** The quantile of Student's t for a probability above 0.5, to about 1e-13. */
export function studentT(probability: number, freedom: number): number {
  const key = `${probability} ${freedom}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  // The upper tail as a function of u = ln t is smooth and falls: bisection, then nothing more is needed.
  const tail = 1 - probability;
  const above = (t: number) => {
    const square = t * t;
    // The smaller of both arguments keeps its digits.
    return square > freedom
      ? 0.5 * beta(freedom / (freedom + square), freedom / 2, 0.5)
      : 0.5 * (1 - beta(square / (freedom + square), 0.5, freedom / 2));
  };
  let low = -40;
  let high = 40;
  for (let step = 0; step < 200 && high - low > 1e-15 * Math.max(1, Math.abs(low)); step++) {
    const middle = (low + high) / 2;
    if (above(Math.exp(middle)) > tail) low = middle;
    else high = middle;
  }
  const found = Math.exp((low + high) / 2);
  quantiles.set(key, found);
  return found;
}

/** Why a random sample does not show the spread of runs; empty if it does. */
function degenerate(sample: readonly number[]): string {
  if (sample.length === 1) return "a single run does not show the spread of other runs";
  if (Math.max(...sample) === Math.min(...sample)) {
    return `all ${sample.length} runs have the same value, which does not show the spread of other runs`;
  }
  return "";
}

const unknown = (mean: number, count: number, note: string): Interval => ({
  mean,
  low: -Infinity,
  high: Infinity,
  count,
  note,
});

/** The mean of a sample and its interval: Student's over seeds, otherwise the range. */
export function interval(
  sample: readonly number[],
  sampling: Sampling,
  confidence: number,
  bounds?: [number, number],
): Interval {
  const count = sample.length;
  const middle = mean(sample);
  if (sampling !== "seed") {
    const low = Math.min(...sample);
    const high = Math.max(...sample);
    return { mean: Math.min(Math.max(middle, low), high), low, high, count, note: "" };
  }
  const unsure = degenerate(sample);
  if (unsure) return unknown(middle, count, unsure);
  const variance = sum(sample.map((value) => (value - middle) ** 2)) / (count - 1);
  const half = studentT((1 + confidence) / 2, count - 1) * Math.sqrt(variance / count);
  if (!bounds || !(bounds[0] < middle && middle < bounds[1])) {
    return { mean: middle, low: middle - half, high: middle + half, count, note: "" };
  }
  // Within bounds on the logit scale.
  const [low, high] = bounds;
  const place = (middle - low) / (high - low);
  const width = half / (high - low) / (place * (1 - place));
  const logit = Math.log(place / (1 - place));
  const end = (at: number) => low + (high - low) / (1 + Math.exp(-at));
  return { mean: middle, low: end(logit - width), high: end(logit + width), count, note: "" };
}

const equal = (of: readonly number[], to: readonly number[]) => of.every((value, at) => value === to[at]);

function unsure(of: readonly number[], to: readonly number[], sampling: Sampling): string {
  if (sampling === "seed" && degenerate(of)) {
    const said = degenerate(to);
    if (said) {
      return equal(of, to) || of.length === 1 ? said : `all ${of.length} runs of each variant have the same value`;
    }
  }
  const unseen = 1 - 0.05 ** (1 / of.length);
  if (equal(of, to) && unseen > MOST_UNSEEN) {
    return `${of.length} equal runs are too few: up to ${Math.round(100 * unseen)} % of other runs could differ`;
  }
  return "";
}

/** The ratio of the means of two paired samples: Fieller's interval over seeds, otherwise the range of the pairs. */
export function ratio(of: readonly number[], to: readonly number[], sampling: Sampling, confidence: number): Interval {
  const count = of.length;
  const above = mean(of);
  const below = mean(to);
  if (above === 0 && below === 0) return unknown(1, count, "both variants are 0 in every run");
  const estimate = below ? above / below : Infinity;
  if (sampling === "exact") return { mean: estimate, low: estimate, high: estimate, count, note: "" };
  const note = unsure(of, to, sampling);
  if (note) return unknown(estimate, count, note);
  if (sampling === "seed") return below === 0 ? ofNothing(of, confidence) : fieller(of, to, confidence);
  const single = of.map((value, at) => (to[at] ? value / to[at]! : value === 0 ? 1 : Infinity));
  return { mean: estimate, low: Math.min(...single), high: Math.max(...single), count, note: "" };
}

function fieller(of: readonly number[], to: readonly number[], confidence: number): Interval {
  const count = of.length;
  const a = mean(of);
  const b = mean(to);
  const factor = studentT((1 + confidence) / 2, count - 1) ** 2 / (count * (count - 1));
  // Scaling by the means prevents an overflow of squares.
  const scale = a || b;
  const x = of.map((value) => value / scale);
  const y = to.map((value) => value / b);
  const middleOf = a / scale;
  const varX = factor * sum(x.map((value) => (value - middleOf) ** 2));
  const varY = factor * sum(y.map((value) => (value - 1) ** 2));
  const both = factor * sum(x.map((value, at) => (value - middleOf) * (y[at]! - 1)));
  const lead = 1 - varY;
  const middle = middleOf - both;
  const last = middleOf * middleOf - varX;
  const root = Math.sqrt(Math.max(middle * middle - lead * last, 0));
  const estimate = a / b;
  if (lead <= 0 && last <= 0) return unknown(estimate, count, "neither mean differs significantly from 0");
  if (lead <= 0) {
    const low = Math.min(((last / (middle + root)) * scale) / b, estimate);
    return { mean: estimate, low, high: Infinity, count, note: "" };
  }
  const low = (((middle - root) / lead) * scale) / b;
  const high = (((middle + root) / lead) * scale) / b;
  return {
    mean: estimate,
    low: Math.min(Math.max(low, 0), estimate),
    high: Math.max(high, estimate),
    count,
    note: "",
  };
}

/** Compares with a reference that is 0 in every run. */
function ofNothing(of: readonly number[], confidence: number): Interval {
  const own = interval(of, "seed", confidence);
  const same = Math.min(...of) === Math.max(...of) && of[0]! > 0 && of.length > 1;
  if (own.low > 0 || same) return { mean: Infinity, low: Infinity, high: Infinity, count: of.length, note: "" };
  return unknown(Infinity, of.length, "the reference is 0 in every run, and the other mean can be 0, too");
}
