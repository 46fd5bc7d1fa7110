// The engines of a page, and what the page asks them.
import { wasmEngine } from "../engine/wasm.ts";
import type { CheckAnswer, Describe } from "../engine/protocol.ts";
import type { LiveData } from "./data.ts";
import type { Settings } from "./settings.ts";
import { type Done, type Job, Pool } from "./simulate.ts";

export class Laboratory {
  readonly data: LiveData;
  readonly #pool: Pool;
  #describe: Promise<Describe> | undefined;

  constructor(data: LiveData, engine: string) {
    this.data = data;
    this.#pool = new Pool(() => wasmEngine(engine));
  }

  /** What scenarios can say. */
  describe(): Promise<Describe> {
    this.#describe ??= this.#pool
      .engine()
      .ask({ do: "describe" })
      .then((frame) => frame.header);
    return this.#describe;
  }

  async check(text: string, settings: Settings = []): Promise<CheckAnswer> {
    return (await this.#pool.engine().ask({ do: "check", text, settings })).header;
  }

  /** Runs jobs; equal jobs run once. */
  async all(jobs: readonly Job[], progress: (share: number) => void, signal: AbortSignal): Promise<Done[] | undefined> {
    const keys = jobs.map((job) => JSON.stringify(job));
    const unique = [...new Set(keys)];
    const done = await this.#pool.all(
      unique.map((key) => jobs[keys.indexOf(key)]!),
      progress,
      signal,
    );
    return done && keys.map((key) => done[unique.indexOf(key)]!);
  }
}
