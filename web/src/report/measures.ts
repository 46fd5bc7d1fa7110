// What a paper measures in a run: the table of flows, and the measures of `ackclock.metrics.flows` and `ackclock.metrics.spans`.
//
// Every sum has the order of the Python code, so that a stored run gives the stored numbers again, bit by bit.
import type { Measures } from "./data.ts";
import { mean, sum } from "./statistics.ts";

/** A value of a column. */
export type Value = number | string | boolean | null;

/** The row of a flow. */
export interface Measured {
  [column: string]: Value;
  flow: string;
}

/** Rows of a trace, by column; the codes of words are already words. */
export interface Trace {
  time: number[];
  [column: string]: (number | string)[];
}

/** A finished run. */
export interface Ran {
  flows: { [column: string]: unknown }[];
  links: { [column: string]: unknown }[];
  transfers: { [column: string]: unknown }[];
  pages: { [column: string]: unknown }[];
  /** A trace of one flow; undefined without rows. */
  trace(name: string, flow: string): Trace | undefined;
  /** Bytes of data in a packet of a flow. */
  payload(flow: string): number;
}

const C = 1.5 * Math.sqrt(2 / 3);
const EXIT = ["reason", "time", "cwnd", "ratio"];

/** Traces that measures need. */
export function tracesOf(measures: Measures): string[] {
  const found = new Set<string>();
  if (Object.keys(measures.spans).length) found.add("delivered");
  if (Object.keys(measures.cwnd).length) found.add("cwnd");
  for (const name of measures.derived) {
    if (name === "eq7" || name === "rtt") found.add("rtt");
    if (name === "estimate") found.add("internals");
  }
  return [...found];
}

/** The rows of all flows with the columns of all measures. */
export function measure(run: Ran, measures: Measures): Measured[] {
  const drops = run.links.reduce((total, link) => total + Number(link["drops"]), 0);
  let rows = run.flows.map((row): Measured => {
    const { name, slow_start_exit, ...kept } = row;
    const exit = (slow_start_exit ?? {}) as { [key: string]: Value };
    const exits = Object.fromEntries(EXIT.map((key) => [`slow_start_exit_${key}`, exit[key] ?? null]));
    return { ...(kept as { [column: string]: Value }), ...exits, flow: String(name), queue_drops: drops };
  });
  arrivals(rows, run, measures.spans);
  windows(rows, run, measures.cwnd);
  for (const name of measures.derived) rows = DERIVE[name]?.(rows, run) ?? rows;
  return rows;
}

const number = (row: Measured, column: string) => Number(row[column]);

/** The number of sorted values that are at most a limit. */
function upTo(times: readonly number[], limit: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function arrivals(rows: Measured[], run: Ran, spans: Measures["spans"]): void {
  for (const row of rows) {
    const { time, bytes } = run.trace("delivered", row.flow) ?? { time: [], bytes: [] };
    const total = (end: number) => (end ? Number(bytes![end - 1]) : 0);
    for (const [column, [begin, end]] of Object.entries(spans)) {
      row[column] = total(upTo(time, end)) - total(upTo(time, begin));
    }
  }
}

function windows(rows: Measured[], run: Ran, spans: Measures["cwnd"]): void {
  for (const row of rows) {
    const { time, cwnd } = run.trace("cwnd", row.flow) ?? { time: [], cwnd: [] };
    for (const [column, [begin, end]] of Object.entries(spans)) {
      row[column] = timeMean(time, cwnd as number[], begin, end);
    }
  }
}

/** The average of a value that lasts until its next change; null if the span has no known value. */
function timeMean(time: readonly number[], value: readonly number[], begin: number, end: number): number | null {
  const edge = (at: number) => Math.min(Math.max(at < time.length ? time[at]! : end, begin), end);
  let known = 0;
  let total = 0;
  for (let at = 0; at < time.length; at++) {
    const lasts = edge(at + 1) - edge(at);
    known += lasts;
    total += value[at]! * lasts;
  }
  return known > 0 ? total / known : null;
}

/** The mean of a flow's samples of the round-trip time, and their number. */
function roundTrips(run: Ran, flow: string): [mean: number | null, count: number] {
  const samples = (run.trace("rtt", flow)?.["rtt"] ?? []) as number[];
  return samples.length ? [samples.reduce((total, rtt) => total + rtt, 0) / samples.length, samples.length] : [null, 0];
}

function share(rows: Measured[]): Measured[] {
  const total = rows.reduce((bytes, row) => bytes + number(row, "delivered_bytes"), 0);
  const rate = sum(rows.map((row) => number(row, "goodput_bps")));
  return rows.map((row) => ({
    ...row,
    share: total ? number(row, "delivered_bytes") / total : null,
    total_bps: rate,
    rank: 1 + rows.filter((other) => number(other, "delivered_bytes") > number(row, "delivered_bytes")).length,
  }));
}

function eq7(rows: Measured[], run: Ran): Measured[] {
  return rows.map((row) => {
    const [trip] = roundTrips(run, row.flow);
    const loss = row["sent_packets"] ? number(row, "dropped_packets") / number(row, "sent_packets") : null;
    const found = { ...row, rtt_mean: trip, loss_rate: loss, eq7_bps: null, eq7_ratio: null };
    if (!trip || !loss || !row["delivered_packets"]) return found;
    const rate = (C * (8 * run.payload(row.flow))) / (trip * Math.sqrt(loss));
    return { ...found, eq7_bps: rate, eq7_ratio: rate / number(row, "goodput_bps") };
  });
}

function jain(rows: Measured[]): Measured[] {
  const goodputs = rows.map((row) => number(row, "goodput_bps"));
  const squares = sum(goodputs.map((own) => own * own));
  const index = squares ? sum(goodputs) ** 2 / (goodputs.length * squares) : null;
  return rows.map((row) => ({ ...row, jain: index }));
}

function resent(rows: Measured[]): Measured[] {
  const share = (row: Measured) => number(row, "retransmitted_packets") / number(row, "sent_packets");
  return rows.map((row) => ({ ...row, resent: row["sent_packets"] ? share(row) : null }));
}

function retransmittedPerLost(rows: Measured[]): Measured[] {
  const ratio = (row: Measured) => number(row, "retransmitted_packets") / number(row, "dropped_packets");
  return rows.map((row) => ({ ...row, retransmitted_per_lost: row["dropped_packets"] ? ratio(row) : null }));
}

function estimate(rows: Measured[], run: Ran): Measured[] {
  return rows.map((row) => {
    const trace = run.trace("internals", row.flow);
    const own = trace ? trace.time.map((_, at) => at).filter((at) => trace["name"]![at] === "bwe") : [];
    let total = 0;
    let lasting = 0;
    own.forEach((at, index) => {
      const next = own[index + 1];
      const lasts = next === undefined ? 0 : trace!.time[next]! - trace!.time[at]!;
      total += Number(trace!["value"]![at]) * lasts;
      lasting += lasts;
    });
    const found = lasting ? total / lasting : null;
    const ratio =
      found !== null && row["delivered_packets"]
        ? (found * 8 * run.payload(row.flow)) / number(row, "goodput_bps")
        : null;
    return { ...row, bwe_mean: found, bwe_ratio: ratio };
  });
}

function rtt(rows: Measured[], run: Ran): Measured[] {
  return rows.map((row) => {
    const [trip, count] = roundTrips(run, row.flow);
    return { ...row, rtt_mean: trip, rtt_samples: count };
  });
}

/** Columns whose sums over connections are those of the application that opened them. */
const SUMS = [
  ...["delivered_bytes", "delivered_packets", "goodput_bps", "sent_packets", "retransmitted_packets", "timeouts"],
  ...["window_reductions", "dropped_packets", "delivered_1s", "delivered_2s", "delivered_5s", "delivered_10s"],
  "rtt_samples",
];

function pages(rows: Measured[], run: Ran): Measured[] {
  const owners = new Map(run.transfers.map((row) => [row["flow"], String(row["application"])]));
  const connections = new Map<string, Measured[]>();
  for (const row of rows) {
    const owner = owners.get(row.flow);
    if (owner !== undefined) connections.set(owner, [...(connections.get(owner) ?? []), row]);
  }
  const made = [...connections].map(([name, own]) => {
    const loads = run.pages.filter((page) => page["application"] === name);
    return { ...merged(own), flow: name, connections: own.length, ...loading(loads) };
  });
  return [...rows.filter((row) => !owners.has(row.flow)), ...made];
}

/** One row for several connections. */
function merged(rows: Measured[]): Measured {
  const first = rows[0]!;
  const row: Measured = { flow: "" };
  for (const key of Object.keys(first))
    row[key] = rows.every((other) => other[key] === first[key]) ? first[key]! : null;
  for (const key of SUMS) {
    if (!(key in first)) continue;
    const values = rows.map((other) => other[key]).filter((value) => typeof value === "number");
    row[key] = values.length === rows.length ? sum(values) : null;
  }
  if (row["rtt_samples"]) {
    const known = rows.filter((other) => other["rtt_samples"]);
    row["rtt_mean"] =
      sum(known.map((other) => number(other, "rtt_mean") * number(other, "rtt_samples"))) / number(row, "rtt_samples");
  }
  return row;
}

/** The pages of an application: bytes and load times. */
function loading(loads: { [column: string]: unknown }[]): { [column: string]: Value } {
  const complete = loads.filter((page) => typeof page["load_time"] === "number");
  const times = complete.map((page) => Number(page["load_time"]));
  const sizes = complete.map((page) => Number(page["bytes"]));
  const counts = { pages: loads.length, pages_unfinished: loads.length - complete.length };
  if (!times.length) {
    return { ...counts, load_mean: null, load_median: null, load_p95: null, page_bytes: null, page_bps: null };
  }
  const bytes = sizes.reduce((total, size) => total + size, 0);
  return {
    ...counts,
    load_mean: mean(times),
    load_median: quantile(times, 0.5),
    load_p95: quantile(times, 0.95),
    page_bytes: bytes / sizes.length,
    page_bps: (8 * bytes) / sum(times),
  };
}

/** A quantile between the two nearest values, as numpy's. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)]!;
  const high = sorted[Math.ceil(place)]!;
  const part = place - Math.floor(place);
  return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

const DERIVE: { [name: string]: (rows: Measured[], run: Ran) => Measured[] } = {
  share,
  eq7,
  jain,
  resent,
  retransmitted_per_lost: retransmittedPerLost,
  estimate,
  rtt,
  pages,
};
