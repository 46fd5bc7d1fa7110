// Logs in the format qlog of any stack, as columns; `ackclock/qlogs/reading.py` reads the same.

/** Points of a quantity over time, in seconds. */
export interface Points {
  x: number[];
  y: number[];
}

/** The log of one connection. */
export interface Log {
  /** Name of the file, and title of the trace. */
  file: string;
  title: string;
  /** Metrics by name: windows in bytes, round-trip times in seconds, rates in bit/s. */
  metrics: { [name: string]: Points };
  /** Bytes of each packet sent. */
  sent: Points;
  /** Times at which packets were deemed lost. */
  lost: number[];
  states: { time: number; state: string }[];
}

type Value = { [key: string]: unknown };

const RECORD = "\u001e";
const SEQUENTIAL = ["JSON-SEQ", "NDJSON", "application/qlog+json-seq"];
const HEADS = ["file_schema", "qlog_version", "qlog_format", "traces", "trace"];
const UNITS: { [name: string]: number } = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
const FORMATS: { [name: string]: "relative" | "delta" | "absolute" } = {
  relative: "relative",
  relative_to_epoch: "relative",
  delta: "delta",
  relative_to_previous_event: "delta",
  absolute: "absolute",
};
/** Seconds from which a time without a format counts from 1970. */
const ABSOLUTE = 1e8;
const TIMES: { [name: string]: string } = {
  min_rtt: "min_rtt",
  smoothed_rtt: "smoothed_rtt",
  latest_rtt: "latest_rtt",
};
const COUNTS: { [name: string]: string } = {
  congestion_window: "congestion_window",
  cwnd: "congestion_window",
  current_cwnd: "congestion_window",
  bytes_in_flight: "bytes_in_flight",
  ssthresh: "ssthresh",
  pacing_rate: "pacing_rate",
};
const METRICS = ["recovery_metrics_updated", "metrics_updated", "metric_update", "congestion_metric_update"];
const LOSSES = ["packet_lost", "packets_lost", "loss"];

/**
 * The logs of a file, one for each trace.
 *
 * @throws if it is no log; the message names the file.
 */
export function readLogs(file: string, text: string): Log[] {
  const start = text.replace(/^[\ufeff \t\r\n]+/, "");
  if (!start) throw new Error(`${file}: is empty`);
  const found = start.startsWith(RECORD)
    ? sequence(file, start.split(RECORD).slice(1), "record")
    : contained(file, start);
  if (found.length === 0) throw new Error(`${file}: has no trace`);
  return found.map(({ place, first, trace }) => readTrace(file, place, first, trace));
}

interface Found {
  /** Where an event is, for messages, before its number. */
  place: string;
  first: number;
  trace: Value;
}

function contained(file: string, text: string): Found[] {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch (error) {
    // Lines of JSON are no JSON text.
    const lines = text.split("\n");
    if (isHead(parsed(lines[0]!))) return sequence(file, lines, "line");
    throw new Error(`${file}: is no qlog: it is not JSON: ${(error as Error).message}`);
  }
  if (!isHead(head)) {
    throw new Error(`${file}: is no qlog: it has neither file_schema (current) nor qlog_version (0.3) at its top`);
  }
  const form = [head["qlog_format"], head["serialization_format"]];
  if (form.some((name) => SEQUENTIAL.includes(String(name)))) return sequence(file, [text], "line");
  const traces = head["traces"];
  if (!Array.isArray(traces)) throw new Error(`${file}: has no list of traces`);
  return traces.flatMap((trace, at) => {
    if (!isTable(trace)) throw new Error(`${file}: trace ${at + 1} is no table`);
    // A trace that its writer could not make has no events.
    return "error_description" in trace ? [] : [{ place: `trace ${at + 1}, event`, first: 1, trace }];
  });
}

function sequence(file: string, lines: string[], noun: string): Found[] {
  const filled = lines.map((line, at) => ({ line, number: at + 1 })).filter(({ line }) => line.trim());
  const values = filled.map(({ line, number }, at) => {
    const value = parsed(line);
    // A stack that was killed leaves its last record unfinished.
    if (value === undefined && at + 1 < filled.length) throw new Error(`${file}: ${noun} ${number} is not JSON`);
    if (value !== undefined && !isTable(value)) throw new Error(`${file}: ${noun} ${number} is no table`);
    return value;
  });
  const [head, ...events] = values.filter((value) => value !== undefined) as Value[];
  if (!isHead(head)) {
    throw new Error(`${file}: is no qlog: its first ${noun} has neither file_schema nor qlog_version`);
  }
  return [{ place: noun, first: 2, trace: { ...table(head["trace"]), events } }];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isTable = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isHead = (value: unknown): value is Value => isTable(value) && HEADS.some((key) => key in value);
const table = (value: unknown): Value => (isTable(value) ? value : {});

function readTrace(file: string, place: string, first: number, trace: Value): Log {
  const events = trace["events"];
  if (!Array.isArray(events)) throw new Error(`${file}: ${place.split(",")[0]} has no list of events`);
  const title = String(trace["title"] || file.replace(/\.[^.]*$/, ""));
  const log: Log = { file, title, metrics: {}, sent: { x: [], y: [] }, lost: [], states: [] };
  const common = table(trace["common_fields"]);
  const unit = UNITS[String(common["time_units"] ?? table(trace["configuration"])["time_units"])] ?? 1e-3;
  const columns = (Array.isArray(trace["event_fields"]) ? trace["event_fields"] : []).map((name) =>
    String(name).toLowerCase(),
  );
  const form = columns.includes("delta_time") ? "delta" : FORMATS[String(common["time_format"])];
  let now = 0;
  let origin: number | undefined;
  events.forEach((each: unknown, at) => {
    const where = () => `${file}: ${place} ${first + at}`;
    if (Array.isArray(each) && each.length === 0) return;
    if (isTable(each) && Object.keys(each).length === 0) return;
    const event = isTable(each) ? each : fromColumns(each, columns);
    if (!event) throw new Error(`${where()}: is no table`);
    const raw = event["time"] ?? event["relative_time"] ?? event["delta_time"];
    const time = typeof raw === "boolean" || raw === undefined || raw === "" ? Number.NaN : Number(raw);
    if (!Number.isFinite(time)) throw new Error(`${where()}: the time ${JSON.stringify(raw)} is no number`);
    const own = FORMATS[String(event["time_format"])] ?? form;
    if (own === "delta") now += time * unit;
    else {
      origin ??= own === "absolute" || (own === undefined && time * unit > ABSOLUTE) ? time : 0;
      now = (time - origin) * unit;
    }
    const name = String(event["name"] ?? event["event_type"] ?? event["event"] ?? event["type"]);
    take(log, now, name.slice(name.lastIndexOf(":") + 1).toLowerCase(), table(event["data"]), unit);
  });
  return log;
}

/** An event of the drafts 00 and 01, a list of values. */
function fromColumns(values: unknown, columns: string[]): Value | undefined {
  if (!Array.isArray(values) || columns.length === 0) return undefined;
  return Object.fromEntries(columns.map((name, at) => [name, values[at]]));
}

function take(log: Log, time: number, name: string, data: Value, unit: number): void {
  if (name === "packet_sent") {
    const size = Number(table(data["raw"])["length"] ?? table(data["header"])["packet_size"] ?? data["packet_size"]);
    if (Number.isFinite(size)) add(log.sent, time, size);
  } else if (LOSSES.includes(name)) {
    log.lost.push(time);
  } else if (name === "congestion_state_updated") {
    state(log, time, data["new"]);
  } else if (METRICS.includes(name)) {
    for (const [key, value] of Object.entries(data)) {
      const metric = TIMES[key] ?? COUNTS[key];
      const number = Number(value);
      if (metric === undefined || value === null || !Number.isFinite(number)) continue;
      log.metrics[metric] ??= { x: [], y: [] };
      add(log.metrics[metric], time, number * (key in TIMES ? unit : 1));
    }
    // mvfst has the state among them.
    state(log, time, data["state"]);
  }
}

function state(log: Log, time: number, found: unknown): void {
  if (typeof found === "string" && found && log.states.at(-1)?.state !== found) log.states.push({ time, state: found });
}

function add(points: Points, x: number, y: number): void {
  points.x.push(x);
  points.y.push(y);
}
