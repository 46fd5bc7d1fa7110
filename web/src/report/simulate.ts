// Runs scenarios of the report on a few engines at once, and measures them.
import { type Engine, EngineFailure, type ScenarioInfo } from "../engine/protocol.ts";
import { run } from "../engine/run.ts";
import type { Measures } from "./data.ts";
import { payloads } from "./frozen.ts";
import { type Measured, measure, type Ran, type Trace, tracesOf } from "./measures.ts";

/** A scenario to run. */
export interface Job {
  /** TOML with every default. */
  text: string;
  measures: Measures;
  /** Traces for curves, beside those of the measures. */
  record: string[];
}

/** A finished job. */
export interface Done {
  scenario: ScenarioInfo;
  rows: Measured[];
  run: Ran;
  digest: string;
}

/** Engines that share the jobs; each has a worker of its own. */
export class Pool {
  readonly #make: () => Engine;
  readonly #engines: Engine[] = [];
  readonly size: number;

  constructor(make: () => Engine, size = Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1))) {
    this.#make = make;
    this.size = size;
  }

  /** An engine for questions. */
  engine(at = 0): Engine {
    this.#engines[at] ??= this.#make();
    return this.#engines[at];
  }

  /** Runs all jobs; undefined if the signal stopped them. `progress` gets the share that is done. */
  async all(jobs: readonly Job[], progress: (share: number) => void, signal: AbortSignal): Promise<Done[] | undefined> {
    const done: (Done | undefined)[] = jobs.map(() => undefined);
    const shares = jobs.map(() => 0);
    let next = 0;
    const work = async (engine: Engine) => {
      while (next < jobs.length && !signal.aborted) {
        const at = next++;
        done[at] = await simulate(engine, jobs[at]!, signal, (share) => {
          shares[at] = share;
          progress(shares.reduce((total, each) => total + each, 0) / jobs.length);
        });
      }
    };
    const engines = Array.from({ length: Math.min(this.size, jobs.length) }, (_, at) => this.engine(at));
    await Promise.all(engines.map(work));
    return done.every((each) => each !== undefined) && !signal.aborted ? (done as Done[]) : undefined;
  }
}

/** Runs a scenario; undefined if the signal stopped it. */
export async function simulate(
  engine: Engine,
  job: Job,
  signal: AbortSignal,
  progress: (share: number) => void = () => undefined,
): Promise<Done | undefined> {
  const traces = new Map<string, Map<number, Trace>>();
  const finished = await run(engine, job.text, {
    record: [...new Set([...job.record, ...tracesOf(job.measures)])],
    rows: true,
    signal,
    onProgress: (time, duration) => progress(time / duration),
    onRows: (frame) => {
      for (const [name, table] of Object.entries(frame.header.tables)) {
        const columns = frame.columns(table);
        const owner = columns["flow"] ?? columns["link"];
        if (!owner) continue;
        const known = traces.get(name) ?? new Map<number, Trace>();
        traces.set(name, known);
        const words = new Map(table.columns.map((column) => [column.name, column.words]));
        const others = Object.entries(columns).filter(([column]) => column !== "flow" && column !== "link");
        for (let row = 0; row < table.rows; row++) {
          let own = known.get(owner[row]!);
          if (!own) {
            own = { time: [] };
            known.set(owner[row]!, own);
          }
          for (const [column, values] of others) {
            own[column] ??= [];
            const value = values[row]!;
            own[column].push(words.get(column)?.[value] ?? value);
          }
        }
      }
    },
  });
  if (!finished) return undefined;
  const { scenario, summary, rows } = finished;
  if (!rows) throw new EngineFailure("the engine gave no rows of transfers and pages");
  const names = [...scenario.flows, ...scenario.links.map((link) => link.name)];
  const place = (trace: string, owner: string) =>
    trace === "queue" ? names.indexOf(owner, scenario.flows.length) - scenario.flows.length : names.indexOf(owner);
  const ran: Ran = {
    flows: summary.flows,
    links: summary.links as unknown as { [column: string]: unknown }[],
    ...rows,
    trace: (name, owner) => traces.get(name)?.get(place(name, owner)),
    payload: payloads(job.text),
  };
  return { scenario, rows: measure(ran, job.measures), run: ran, digest: finished.digest };
}
