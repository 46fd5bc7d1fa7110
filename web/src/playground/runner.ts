// Runs the newest scenario: one run at a time, drawn while it runs, replaced as soon as the scenario changes.
import { Recording, TRACES } from "../charts/recording.ts";
import type { Engine } from "../engine/protocol.ts";
import { type Finished, run } from "../engine/run.ts";

/** Milliseconds for which a new scenario waits for the run before it. A drag thus shows whole runs if they are short. */
const PATIENCE = 250;

/** Milliseconds after which a run is drawn although it is not over. Earlier, the curves of the run before stay. */
const LIVE = 150;

/** What a runner reports. */
export interface RunnerEvents {
  /** A run begins. */
  onStart(): void;
  /** The rows of a run, when it is worth drawing them: some of them, or all. */
  onRows(recording: Recording, text: string): void;
  onProgress(time: number, duration: number): void;
  /** The run came to its end. */
  onFinish(recording: Recording, finished: Finished, text: string, milliseconds: number): void;
  /** The reader stopped the run at the time that its rows reached. */
  onStop(recording: Recording | undefined): void;
  onError(error: unknown): void;
}

/** Makes a runner on an engine. */
export function runner(engine: Engine, events: RunnerEvents) {
  let active: { abort: AbortController; began: number; over: Promise<void> } | undefined;
  let wanted: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function execute(text: string, abort: AbortController): Promise<void> {
    const began = performance.now();
    let recording: Recording | undefined;
    let drawn = 0;
    events.onStart();
    try {
      const finished = await run(engine, text, {
        record: TRACES,
        signal: abort.signal,
        onOpen(scenario) {
          recording = new Recording(scenario);
        },
        onPath: (frame) => recording!.addPath(frame),
        onRows(frame) {
          recording!.add(frame);
          const now = performance.now();
          if (now - began < LIVE || now - drawn < 30) return;
          drawn = now;
          events.onRows(recording!, text);
        },
        onProgress: (time, duration) => events.onProgress(time, duration),
      });
      if (finished) {
        recording!.reached = finished.scenario.duration;
        events.onFinish(recording!, finished, text, performance.now() - began);
      } else {
        events.onStop(recording);
      }
    } catch (error) {
      events.onError(error);
    }
  }

  function next(): void {
    if (active || wanted === undefined) return;
    const text = wanted;
    wanted = undefined;
    const abort = new AbortController();
    const over = execute(text, abort).finally(() => {
      active = undefined;
      clearTimeout(timer);
      next();
    });
    active = { abort, began: performance.now(), over };
  }

  return {
    /** Runs a scenario; of several that wait, only the last. */
    start(text: string): void {
      wanted = text;
      if (active) {
        clearTimeout(timer);
        const { abort, began } = active;
        timer = setTimeout(() => abort.abort(), Math.max(0, began + PATIENCE - performance.now()));
      } else {
        next();
      }
    },
    /** Stops the run, and forgets a scenario that waits. */
    stop(): void {
      wanted = undefined;
      active?.abort.abort();
    },
    /** Resolves when nothing runs. */
    async idle(): Promise<void> {
      while (active) await active.over;
    },
  };
}
