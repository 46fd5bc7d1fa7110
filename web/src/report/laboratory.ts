// The engines of a report, and the runs that it asks of them.
import { type Recorded, record } from "../charts/recording.ts";
import type { Engine } from "../engine/protocol.ts";
import type { Settings } from "./settings.tsx";

export type Laboratory = ReturnType<typeof laboratory>;

/** Runs scenarios on a few engines at once; each has a worker of its own. */
export function laboratory(make: () => Engine) {
  const engines: Engine[] = [];
  const engine = (at = 0): Engine => {
    engines[at] ??= make();
    return engines[at];
  };
  return {
    describe: async () => (await engine().ask({ do: "describe" })).header,
    check: async (text: string, settings: Settings = []) =>
      (await engine().ask({ do: "check", text, settings })).header,
    /** Runs scenarios with these traces; undefined if the signal stopped them. `progress` gets the share that is done. */
    async all(texts: readonly string[], traces: string[], progress: (share: number) => void, signal: AbortSignal) {
      const done: Recorded[] = [];
      const shares = texts.map(() => 0);
      const waiting = [...texts.entries()];
      const work = async (engine: Engine) => {
        for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
          const [at, text] = next;
          const onProgress = (time: number, duration: number) => {
            shares[at] = time / duration;
            progress(shares.reduce((total, each) => total + each, 0) / texts.length);
          };
          const finished = await record(engine, text, { record: traces, signal, onProgress });
          if (finished) done[at] = finished;
        }
      };
      const size = Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1, texts.length));
      await Promise.all(Array.from({ length: size }, (_, at) => work(engine(at))));
      return signal.aborted ? undefined : done;
    },
  };
}
