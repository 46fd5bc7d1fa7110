// The figures of logs, as `ackclock/drawing/logs.py` describes them for files.
import type { FigureSpec, SeriesSpec } from "../page/spec.ts";
import type { Log, Points } from "./read.ts";

/** Bins of a long curve, in each of which only its first, last and extreme values are drawn. */
const BINS = 1200;
/** States in which a sender does not recover from a loss or a mark. */
const USUAL = ["slow_start", "congestion_avoidance", "application_limited", "avoidance", "init", "hystart", "steady"];
const NONE: Points = { x: [], y: [] };

/** A series before it has a colour; `like`: the log to which it belongs. */
type Own = Omit<SeriesSpec, "colour"> & { like: string };

/** A kind of figure: its title, that of its axis, and its series for a log. */
export interface Kind {
  title: string;
  axis: string;
  series: (label: string, log: Log) => Own[];
}

export const KINDS: Kind[] = [
  { title: "Congestion window of each connection", axis: "cwnd (kB)", series: window },
  { title: "Round-trip time of each connection", axis: "round-trip time (ms)", series: roundTrips },
  {
    title: "Pacing rate of each connection",
    axis: "pacing rate (Mbit/s)",
    series: (label, log) => curve(label, label, log.metrics["pacing_rate"], 1e6),
  },
  { title: "Data sent by each connection", axis: "data sent (MB)", series: sent },
];

/** Logs by their labels: the file if there are several, and the title if a file has several. */
export function labelled(logs: Log[]): Map<string, Log> {
  const many = new Set(logs.map(({ file }) => file)).size > 1;
  const found = new Map<string, Log>();
  for (const log of logs) {
    const stem = log.file.replace(/\.[^.]*$/, "");
    const alone = logs.filter(({ file }) => file === log.file).length === 1;
    const base = !many ? log.title : alone ? stem : `${stem}, ${log.title}`;
    let label = base;
    for (let number = 2; found.has(label); number++) label = `${base} (${number})`;
    found.set(label, log);
  }
  return found;
}

/** The data of a figure of these logs. */
export function figureOf(kind: Kind, logs: Map<string, Log>): FigureSpec {
  const labels = [...logs.keys()];
  const found = [...logs].flatMap(([label, log]) => kind.series(label, log));
  const series = found.map(({ like, ...own }) => ({
    ...own,
    colour: labels.indexOf(like),
    ...(own.name !== like && { group: like }),
  }));
  return {
    legend: series.map(({ name, colour, style, faint }) => ({ name, colour, style, ...(faint && { faint }) })),
    panels: [{ title: "", x: { title: "time (s)" }, y: { title: kind.axis }, series }],
  };
}

function window(label: string, { metrics, lost, states }: Log): Own[] {
  const own = curve(label, label, metrics["congestion_window"], 1e3);
  const flight = curve(label, `${label}, in flight`, metrics["bytes_in_flight"], 1e3);
  const times = visible(lost);
  const zeros = times.map(() => 0);
  const marks: Own[] = times.length
    ? [{ name: `${label}, lost`, like: label, style: "points", x: times, y: zeros }]
    : [];
  return [...own, ...flight, ...recovery(label, metrics["congestion_window"] ?? NONE, states), ...marks];
}

function roundTrips(label: string, { metrics }: Log): Own[] {
  const latest = curve(label, label, metrics["latest_rtt"], 1e-3);
  return [...latest, ...curve(label, `${label}, smoothed`, metrics["smoothed_rtt"], 1e-3)];
}

function sent(label: string, log: Log): Own[] {
  let total = 0;
  return curve(label, label, { x: log.sent.x, y: log.sent.y.map((size) => (total += size)) }, 1e6);
}

/** A curve that holds each value until the next; none without points. */
function curve(like: string, name: string, points: Points = NONE, unit: number): Own[] {
  if (points.x.length === 0) return [];
  const { x, y } = thinned({ x: points.x, y: points.y.map((value) => value / unit) });
  return [{ name, like, style: "step", x, y, ...(name !== like && { faint: true }) }];
}

/** The times of recovery, as a band below the window. */
function recovery(label: string, points: Points, states: Log["states"]): Own[] {
  const spans = states
    .map(({ time, state }, at) => ({ state, from: time, to: states[at + 1]?.time ?? points.x.at(-1) ?? time }))
    .filter(({ state }) => !USUAL.includes(state.toLowerCase()));
  if (spans.length === 0 || points.x.length === 0) return [];
  const x: number[] = [];
  const y: (number | null)[] = [];
  const push = (time: number, value: number | null) => {
    x.push(time);
    y.push(value === null ? null : value / 1e3);
  };
  const { x: times, y: values } = thinned(points);
  let at = -1;
  for (const { from, to } of spans) {
    while (times[at + 1] !== undefined && times[at + 1]! <= from) at += 1;
    push(from, values[at] ?? null);
    while (times[at + 1] !== undefined && times[at + 1]! <= to) {
      at += 1;
      push(times[at]!, values[at]!);
    }
    push(to, values[at] ?? null);
    push(to, null);
  }
  // Between recoveries the band has no height: the library would draw over a gap.
  const high = y.map((value) => value ?? 0);
  const low = y.map(() => 0);
  return [{ name: `${label}, recovery`, like: label, style: "step", faint: true, x, y, low, high }];
}

/** A long curve reduced to the first, smallest, largest and last value of each bin, which looks the same. */
export function thinned(points: Points, bins = BINS): Points {
  const { x, y } = points;
  if (x.length <= 4 * bins) return points;
  const span = x.at(-1)! - x[0]! || 1;
  const binOf = (at: number) => Math.min(Math.floor(((x[at]! - x[0]!) / span) * bins), bins - 1);
  const kept: number[] = [];
  for (let start = 0; start < x.length; ) {
    const bin = binOf(start);
    let [least, most, end] = [start, start, start];
    while (end < x.length && binOf(end) === bin) {
      if (y[end]! < y[least]!) least = end;
      if (y[end]! > y[most]!) most = end;
      end += 1;
    }
    kept.push(...[...new Set([start, least, most, end - 1])].sort((a, b) => a - b));
    start = end;
  }
  return { x: kept.map((at) => x[at]!), y: kept.map((at) => y[at]!) };
}

/** At most one time for each place that a figure can show. */
function visible(times: number[]): number[] {
  if (times.length <= 4 * BINS) return times;
  const last = times.at(-1) || 1;
  const places = new Set<number>();
  return times.filter((time) => {
    const place = Math.floor((time / last) * 4 * BINS);
    return !places.has(place) && places.add(place);
  });
}
