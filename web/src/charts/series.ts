// Values over time as a run reports them, and their reduction to the pixels of a chart.

/** Samples in a block, for which the smallest and largest value are stored. */
const BLOCK = 64;

/** Values at times that never decrease. Rows are only appended. */
export class Series {
  length = 0;
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #low = new Float64Array(4).fill(Number.POSITIVE_INFINITY);
  #high = new Float64Array(4).fill(Number.NEGATIVE_INFINITY);

  /** Appends a sample. A value that is not finite means that there is none from this time on. */
  push(time: number, value: number): void {
    if (this.length === this.#times.length) this.#grow();
    const index = this.length++;
    this.#times[index] = time;
    this.#values[index] = Number.isFinite(value) ? value : Number.NaN;
    if (Number.isFinite(value)) {
      const block = Math.floor(index / BLOCK);
      if (value < this.#low[block]!) this.#low[block] = value;
      if (value > this.#high[block]!) this.#high[block] = value;
    }
  }

  /** Time of a sample. */
  time(index: number): number {
    return this.#times[index]!;
  }

  /** Value of a sample; NaN if there is none. */
  value(index: number): number {
    return this.#values[index]!;
  }

  /** Number of samples at or before a time. */
  until(time: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#times[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The value that holds at a time; NaN before the first sample. */
  at(time: number): number {
    const count = this.until(time);
    return count === 0 ? Number.NaN : this.#values[count - 1]!;
  }

  /** Smallest and largest value of samples `from` to before `to`; undefined if none has a value. */
  extremes(from: number, to: number): [low: number, high: number] | undefined {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let index = from; index < to; ) {
      if (index % BLOCK === 0 && index + BLOCK <= to) {
        low = Math.min(low, this.#low[index / BLOCK]!);
        high = Math.max(high, this.#high[index / BLOCK]!);
        index += BLOCK;
      } else {
        const value = this.#values[index++]!;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return low <= high ? [low, high] : undefined;
  }

  #grow(): void {
    const enlarge = (old: Float64Array, rest: number) => {
      const larger = new Float64Array(old.length * 2).fill(rest);
      larger.set(old);
      return larger as Float64Array<ArrayBuffer>;
    };
    this.#times = enlarge(this.#times, 0);
    this.#values = enlarge(this.#values, 0);
    this.#low = enlarge(this.#low, Number.POSITIVE_INFINITY);
    this.#high = enlarge(this.#high, Number.NEGATIVE_INFINITY);
  }
}

/** Times that a chart shows, and how finely: two points in each of `buckets` equal parts. */
export interface Grid {
  from: number;
  to: number;
  buckets: number;
}

/** One value for each point of a grid; null draws nothing. */
export type Points = (number | null)[];

/** Times of the points of a grid. */
export function times({ from, to, buckets }: Grid): number[] {
  const width = (to - from) / buckets;
  return Array.from(
    { length: 2 * buckets },
    (_, point) => from + (Math.floor(point / 2) + (point % 2 ? 0.75 : 0.25)) * width,
  );
}

/**
 * A value that holds until the next sample: each bucket gets its smallest and largest value, in the order that the
 * curve goes, or the value that holds. After `end`, which the run has reached, there is nothing.
 */
export function held(series: Series, grid: Grid, end: number): Points {
  const { from, to, buckets } = grid;
  const width = (to - from) / buckets;
  const points: Points = new Array(2 * buckets).fill(null);
  let first = series.until(from);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = from + bucket * width;
    if (start > end) break;
    const last = first < series.length && series.time(first) <= start + width ? series.until(start + width) : first;
    const range = last > first ? series.extremes(first, last) : undefined;
    if (range) {
      const rises =
        (finite(series.value(last - 1)) ?? range[1]) >= (first > 0 ? series.value(first - 1) || range[0] : range[0]);
      points[2 * bucket] = rises ? range[0] : range[1];
      points[2 * bucket + 1] = rises ? range[1] : range[0];
    } else if (last > 0) {
      points[2 * bucket] = points[2 * bucket + 1] = finite(series.value(last - 1));
    }
    first = last;
  }
  return points;
}

/** Single events: each bucket gets the smallest and largest value of its samples, if it has any. */
export function dots(series: Series, grid: Grid): Points {
  const { from, to, buckets } = grid;
  const width = (to - from) / buckets;
  const points: Points = new Array(2 * buckets).fill(null);
  let first = series.until(from);
  while (first > 0 && series.time(first - 1) === from) first--;
  for (let bucket = 0; bucket < buckets && first < series.length; bucket++) {
    const until = from + (bucket + 1) * width;
    if (series.time(first) > until) continue;
    const last = series.until(until);
    const range = series.extremes(first, last);
    if (range) {
      points[2 * bucket] = range[0];
      if (range[1] !== range[0]) points[2 * bucket + 1] = range[1];
    }
    first = last;
  }
  return points;
}

/** Growth of a cumulative series per second, over the last `window` seconds before each point. */
export function rates(series: Series, grid: Grid, end: number, window: number): Points {
  return times(grid).map((time) => (time > end || series.length === 0 ? null : rate(series, time, window)));
}

/** Growth of a cumulative series per second in the `window` seconds before a time. */
export function rate(series: Series, time: number, window: number): number {
  return ((series.at(time) || 0) - (series.at(time - window) || 0)) / window;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
