// One run: opens it, advances in short steps so that the page can draw and stop it, finishes, and always closes it.
import type { AdvanceAnswer, Engine, FinishAnswer, Frame, PathAnswer, ScenarioInfo } from "./protocol.ts";

/** What a run reports, and how it is stopped. */
export interface RunOptions {
  /** Traces to record, instead of those of the scenario. */
  record?: string[];
  /** Settings on top of the text, such as ["seed", "3"]. */
  settings?: [key: string, value: string][];
  /** The scenario as checked, before the first row. */
  onOpen?: (scenario: ScenarioInfo) => void;
  /** The path over time, before the first row. */
  onPath?: (frame: Frame<PathAnswer>) => void;
  /** New rows of every trace; the frame's columns are views of its bytes. */
  onRows?: (frame: Frame<AdvanceAnswer>) => void;
  /** Time reached and duration, in seconds. */
  onProgress?: (time: number, duration: number) => void;
  signal?: AbortSignal;
  /** Milliseconds of work in a step. */
  step?: number;
}

/** The end of a run that was not stopped. */
export interface Finished extends FinishAnswer {
  scenario: ScenarioInfo;
}

/** Events of a step that are never too many: about 10 ms of work. Fewer would mostly wait for messages. */
const LEAST_EVENTS = 20_000;
const LARGEST_GROWTH = 4;

/** Milliseconds that a step should take. The answers of a server wait longer for their way. */
const STEP = { wasm: 20, http: 80, kernel: 80 };

/** Runs a scenario to its end; undefined if the signal stopped it. */
export async function run(engine: Engine, text: string, options: RunOptions = {}): Promise<Finished | undefined> {
  const { record, settings, onOpen, onPath, onRows, onProgress, signal, step = STEP[engine.kind] } = options;
  if (signal?.aborted) return undefined;
  const opened = await engine.ask({
    do: "open",
    text,
    ...(record && { record }),
    ...(settings && { settings }),
  });
  const { run: id, scenario } = opened.header;
  let open = true;
  try {
    onOpen?.(scenario);
    if (onPath) onPath(await engine.ask({ do: "path", run: id }));
    let events = LEAST_EVENTS;
    for (;;) {
      if (signal?.aborted) return undefined;
      const began = performance.now();
      const frame = await engine.ask({ do: "advance", run: id, until: null, events });
      if (signal?.aborted) return undefined;
      onRows?.(frame);
      onProgress?.(frame.header.time, frame.header.duration);
      if (frame.header.done) break;
      const took = Math.max(performance.now() - began, 0.1);
      events = Math.max(LEAST_EVENTS, Math.round(events * Math.min(LARGEST_GROWTH, step / took)));
    }
    const finished = await engine.ask({ do: "finish", run: id });
    open = false;
    return { ...finished.header, scenario };
  } finally {
    // A dead engine has nothing to close; its failure is what the caller hears of.
    if (open) await engine.ask({ do: "close", run: id }).catch(() => undefined);
  }
}
