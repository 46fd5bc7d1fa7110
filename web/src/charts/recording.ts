// The rows of one run as series of flows and links, which charts draw while they grow.
import type { AdvanceAnswer, Engine, Frame, PathAnswer, ScenarioInfo, TablePlace } from "../engine/protocol.ts";
import { type Finished, type RunOptions, run } from "../engine/run.ts";
import { Series } from "./series.ts";

/**
 * What charts draw. Of flows: all but `queue`, `drops` and those of the path, which are of links; `wait` is of a flow at a link, and an internal
 * quantity has its name, such as `internals bwe`.
 */
export type Quantity =
  | "cwnd"
  | "ssthresh"
  | "delivered"
  | "sent"
  | "resent"
  | "acked"
  | "rtt"
  | "queue"
  | "drops"
  | "wait"
  | PathQuantity
  | `internals ${string}`;

/** What the models of a link do over time: seconds, bit/s, or a share; `least` and `largest` are delays. */
export type PathQuantity = `path ${(typeof OF_PATH)[number]}`;

const OF_PATH = ["rate", "delay", "least", "largest", "loss"] as const;

/** Traces that the page asks for. */
export const TRACES = ["cwnd", "queue", "delivered", "drops", "sequence", "rtt", "sojourn"];

/** Rows above this number are not stored: a row takes 16 bytes, and a tab has little more memory than 1 GB. */
const MOST_ROWS = 20_000_000;

type Column = Float64Array | Uint32Array | Uint8Array;

/** The stored rows of a run. */
export class Recording {
  readonly scenario: ScenarioInfo;
  /** Seconds of the run that its rows cover. */
  reached = 0;
  /** Time from which rows were not stored, if there were too many. */
  full: number | undefined;
  #rows = 0;
  readonly #series = new Map<string, Series>();

  constructor(scenario: ScenarioInfo) {
    this.scenario = scenario;
  }

  /** Stores the rows of an answer. */
  add(frame: Frame<AdvanceAnswer>): void {
    const { tables, time } = frame.header;
    for (const { rows } of Object.values(tables)) this.#rows += rows;
    if (this.#rows > MOST_ROWS) {
      this.full ??= this.reached;
      return;
    }
    // The queue comes before the drops, which are drawn at its length.
    for (const trace of [...TRACES, "internals"]) this.#read(trace, frame, tables[trace]);
    this.reached = time;
  }

  /** Stores the path over time. */
  addPath(frame: Frame<PathAnswer>): void {
    this.#read("path", frame, frame.header.tables.path);
  }

  /** A series of a flow or link; undefined if it has no rows. Waiting times are those of a flow at a link. */
  series(quantity: Quantity, index: number, link = 0): Series | undefined {
    return this.#series.get(keyOf(quantity, index, link));
  }

  /** Time of the first loss, in seconds; undefined if there is none so far. */
  get firstLoss(): number | undefined {
    const times = this.scenario.links.flatMap((_, link) => this.series("drops", link)?.time(0) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #read(trace: string, frame: Frame, table: TablePlace | undefined): void {
    if (!table || table.rows === 0) return;
    const columns = frame.columns(table);
    const words = table.columns.find((column) => column.words)?.words ?? [];
    this.#store(trace, columns as { [name: string]: Column }, table.rows, words);
  }

  #store(trace: string, columns: { [name: string]: Column }, rows: number, words: string[]): void {
    const times = columns["time"]!;
    const owners = columns[["queue", "drops", "path"].includes(trace) ? "link" : "flow"]!;
    const copy = (quantity: Quantity, values: Column) => {
      for (let row = 0; row < rows; row++) this.#of(quantity, owners[row]!).push(times[row]!, values[row]!);
    };
    switch (trace) {
      case "cwnd":
        copy("cwnd", columns["cwnd"]!);
        copy("ssthresh", columns["ssthresh"]!);
        break;
      case "queue":
        copy("queue", columns["packets"]!);
        break;
      case "delivered":
        copy("delivered", columns["bytes"]!);
        break;
      case "rtt":
        copy("rtt", columns["rtt"]!);
        break;
      case "path":
        for (const name of OF_PATH) if (columns[name]) copy(`path ${name}`, columns[name]);
        break;
      case "sojourn": {
        const [links, waits] = [columns["link"]!, columns["sojourn"]!];
        for (let row = 0; row < rows; row++) this.#of("wait", owners[row]!, links[row]!).push(times[row]!, waits[row]!);
        break;
      }
      case "internals":
        for (let row = 0; row < rows; row++) {
          const quantity: Quantity = `internals ${words[columns["name"]![row]!]}`;
          this.#of(quantity, owners[row]!).push(times[row]!, columns["value"]![row]!);
        }
        break;
      case "drops":
        for (let row = 0; row < rows; row++) {
          const time = times[row]!;
          this.#of("drops", owners[row]!).push(time, this.series("queue", owners[row]!)?.at(time) || 0);
        }
        break;
      case "sequence": {
        const kinds: (Quantity | undefined)[] = words.map(
          (word) => ({ send: "sent", retransmit: "resent", ack: "acked" })[word] as Quantity | undefined,
        );
        for (let row = 0; row < rows; row++) {
          const quantity = kinds[columns["kind"]![row]!];
          if (quantity) this.#of(quantity, owners[row]!).push(times[row]!, columns["seq"]![row]!);
        }
      }
    }
  }

  #of(quantity: Quantity, index: number, link = 0): Series {
    const key = keyOf(quantity, index, link);
    let series = this.#series.get(key);
    if (!series) {
      series = new Series();
      this.#series.set(key, series);
    }
    return series;
  }
}

function keyOf(quantity: Quantity, index: number, link: number): string {
  return quantity === "wait" ? `${quantity} ${index} ${link}` : `${quantity} ${index}`;
}

/** A finished run, with its rows. */
export interface Recorded extends Finished {
  recording: Recording;
}

/** Runs a scenario to its end, and stores its rows; undefined if the signal stopped it. */
export async function record(engine: Engine, text: string, options: RunOptions): Promise<Recorded | undefined> {
  let recording: Recording | undefined;
  const finished = await run(engine, text, {
    ...options,
    onOpen: (scenario) => {
      recording = new Recording(scenario);
    },
    onPath: (frame) => recording!.addPath(frame),
    onRows: (frame) => recording!.add(frame),
  });
  if (!finished) return undefined;
  recording!.reached = finished.scenario.duration;
  return { ...finished, recording: recording! };
}
