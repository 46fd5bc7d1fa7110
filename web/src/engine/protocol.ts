// The protocol between a page and an engine: a request is JSON, an answer is a frame.
//
// A frame is the length of its header (u32), the header (JSON in UTF-8), zeros up to a multiple of 8, and the columns'
// bytes, each padded to 8. All numbers are little-endian. Offsets of columns count from the end of the padded header.
// `crates/web/src/lib.rs` describes the protocol.
import type { Describe as ScenarioDescribe } from "../scenario/describe.ts";
import type { Summary } from "../scenario/generated/summary.ts";
import { link, type Schema } from "../scenario/schema.ts";
import type { Table } from "../scenario/toml.ts";

/** Types of the values of a column. */
export type ColumnType = "f64" | "u32" | "u8";

/** Where the values of a column are in a frame. */
export interface ColumnPlace {
  name: string;
  type: ColumnType;
  offset: number;
  /** The words that the codes of a u8 column stand for. */
  words?: string[];
  /** What the indices of a u32 column stand for: positions in the scenario's flows or links. */
  names?: "flows" | "links";
}

/** The rows of a trace in a frame. */
export interface TablePlace {
  rows: number;
  columns: ColumnPlace[];
}

/** One fault of a scenario, and where it is. */
export interface Problem {
  line: number | null;
  column: number | null;
  /** The setting that is wrong, if it is not the text. */
  setting: string | null;
  /** Dotted path; empty for the text as a whole. */
  key: string | null;
  message: string;
}

/** The scenario as the engine understands it. */
export interface ScenarioInfo {
  name: string;
  /** Seconds. */
  duration: number;
  seed: number;
  flows: string[];
  links: LinkInfo[];
  /** Name of the slowest link of the first flow. */
  bottleneck: string | null;
  record: string[];
}

/** A link of a scenario. */
export interface LinkInfo {
  name: string;
  from: string;
  to: string;
  /** Bits per second. */
  rate: number;
  /** Seconds. */
  delay: number;
  /** Name of its discipline, if it has one. */
  queue: string | null;
}

/** Answer to `check`. */
export interface CheckAnswer {
  scenario: ScenarioInfo;
  /** The document as JSON, with what was written. */
  values: Table;
  /** The same, with the values of presets of links. */
  resolved: Table;
  /** TOML with every default. */
  frozen: string;
  hash: string;
}

/** A column of a trace or table as documented. */
export interface ColumnInfo {
  name: string;
  unit: string;
  doc: string;
  kind: string;
}

/** Answer to `describe`. */
export interface Describe extends ScenarioDescribe {
  version: string;
  /** The processor for which the engine was compiled. */
  build: string;
  traces: { [name: string]: { row: string; columns: ColumnInfo[] } };
  tables: { [name: string]: { row: string; columns: ColumnInfo[] } };
}

/** Answer to `open`. */
export interface OpenAnswer {
  run: number;
  scenario: ScenarioInfo;
}

/** Answer to `advance`. */
export interface AdvanceAnswer {
  run: number;
  time: number;
  duration: number;
  events: number;
  done: boolean;
  tables: { [trace: string]: TablePlace };
}

/** A row of the summary's table of flows. */
export type FlowSummary = Summary["flows"][number];

/** A row of the summary's table of links. */
export type LinkSummary = Summary["links"][number];

/** Answer to `path`: rows of the trace-like table `path`, if the path varies. */
export interface PathAnswer {
  run: number;
  tables: { path?: TablePlace };
}

/** Answer to `finish`. */
export interface FinishAnswer {
  summary: Summary;
  digest: string;
}

/** TOML literals by key path; null removes the key. */
export type Edit = [key: string, literal: string | null];

/** A scenario in a request. */
export interface ScenarioRequest {
  text: string;
  /** File name for messages, from which a scenario without a name gets its own. */
  name?: string;
  /** Settings on top of the text, as of `--set`. */
  settings?: [key: string, value: string][];
}

/** Every request. */
export type Request =
  | { do: "describe" }
  | ({ do: "check" } & ScenarioRequest)
  | { do: "edit"; text: string; set: Edit[] }
  | ({ do: "open"; record?: string[] } & ScenarioRequest)
  | { do: "advance"; run: number; until: number | null; events?: number }
  | { do: "path"; run: number }
  | { do: "finish"; run: number }
  | { do: "close"; run: number }
  | ({ do: "packets"; from: number; to: number; most: number } & ScenarioRequest);

/** The header of the answer to each request. */
export interface Answers {
  describe: Describe;
  check: CheckAnswer;
  edit: { text: string };
  open: OpenAnswer;
  advance: AdvanceAnswer;
  path: PathAnswer;
  finish: FinishAnswer;
  close: { [key: string]: never };
  packets: import("../packets/packets.ts").PacketsAnswer;
}

/** An answer that the engine refused, for reasons in the scenario or in the request. */
export class Refused extends Error {
  readonly problems: Problem[];

  constructor(text: string, problems: Problem[]) {
    super(text);
    this.name = "Refused";
    this.problems = problems;
  }
}

/** The engine itself failed: it trapped, its worker died, or its server is gone. */
export class EngineFailure extends Error {
  constructor(text: string) {
    super(text);
    this.name = "EngineFailure";
  }
}

/** What an error tells the reader. */
export const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A decoded answer. */
export class Frame<Header = unknown> {
  readonly header: Header;
  readonly #buffer: ArrayBufferLike;
  readonly #start: number;

  constructor(header: Header, buffer: ArrayBufferLike, start: number) {
    this.header = header;
    this.#buffer = buffer;
    this.#start = start;
  }

  /** The values of a column, as a view of the frame's bytes. */
  column(place: ColumnPlace, rows: number): Float64Array | Uint32Array | Uint8Array {
    const at = this.#start + place.offset;
    switch (place.type) {
      case "f64":
        return new Float64Array(this.#buffer, at, rows);
      case "u32":
        return new Uint32Array(this.#buffer, at, rows);
      case "u8":
        return new Uint8Array(this.#buffer, at, rows);
    }
  }

  /** All columns of a table by name. */
  columns(table: TablePlace): { [name: string]: Float64Array | Uint32Array | Uint8Array } {
    return Object.fromEntries(table.columns.map((place) => [place.name, this.column(place, table.rows)]));
  }
}

/** Decodes a frame; throws `Refused` if it is an error. */
export function decode<Header = unknown>(bytes: ArrayBuffer | Uint8Array): Frame<Header> {
  let view = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  // Views of columns need the alignment that the frame has on its own.
  if (view.byteOffset % 8 !== 0) view = view.slice();
  if (view.byteLength < 4) throw new EngineFailure(`the engine's answer has ${view.byteLength} bytes, and no header`);
  const length = new DataView(view.buffer, view.byteOffset, 4).getUint32(0, true);
  if (4 + length > view.byteLength) {
    throw new EngineFailure(`the engine's answer ends after ${view.byteLength} bytes, within its header of ${length}`);
  }
  const text = new TextDecoder().decode(view.subarray(4, 4 + length));
  let header: { error?: { text: string; problems: Problem[] } } & Header;
  try {
    header = JSON.parse(text);
  } catch {
    throw new EngineFailure("the header of the engine's answer is not JSON");
  }
  if (typeof header === "object" && header !== null && "schema" in header) link(header.schema as Schema);
  if (header.error) throw new Refused(header.error.text, header.error.problems ?? []);
  return new Frame<Header>(header, view.buffer, view.byteOffset + Math.ceil((4 + length) / 8) * 8);
}

/** Whatever runs scenarios: WebAssembly in a worker, a server, or a notebook's kernel. */
export interface Engine {
  readonly kind: "wasm" | "http" | "kernel";
  /** Sends a request. Rejects with `Refused` or `EngineFailure`. */
  ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>>;
  /** Ends the engine; requests without an answer fail. */
  close(): void;
}
