// The state of the playground and what changes it. The scenario's text is the one source of truth.
import type { Chart, Choice } from "../charts/curves.ts";
import { type Recording, record, TRACES } from "../charts/recording.ts";
import { type CheckAnswer, type Describe, type Edit, type Engine, type Problem, Refused } from "../engine/protocol.ts";
import type { Summary } from "../scenario/generated/summary.ts";
import { differences } from "./differences.ts";
import type { Values } from "./knobs.ts";
import { runner } from "./runner.ts";
import { type Store, store } from "./state.ts";

/** A run that the charts show. */
export interface Run {
  recording: Recording;
  text: string;
  values: Values;
  /** Absent while the run runs, and if it was stopped. */
  summary?: Summary;
  /** SHA-256 of what the run recorded. */
  digest?: string;
  /** Name that the reader gave. */
  name?: string;
}

/** All that the page shows. */
export interface State {
  text: string;
  /** The newest text without faults, as the engine understands it. */
  checked: (CheckAnswer & { text: string }) | undefined;
  /** Faults of the text. */
  problems: Problem[];
  /** The faults as one message, or why the engine failed. */
  error: string;
  running: boolean;
  /** Share of the run that is over, from 0 to 1. */
  progress: number;
  /** Sentence about the last run. */
  status: string;
  current: Run | undefined;
  kept: Run[];
  zoom: [from: number, to: number] | undefined;
  choice: Choice;
  /** Flows that a lesson shows first, instead of the scenario's first ones. */
  preferred: string[];
  visible: Chart["id"][];
}

/** Flows that the charts show unless the reader chooses others. */
export const FLOWS_SHOWN = 4;

/** The laboratory behind the page. */
export interface Lab extends Store<State> {
  describe: Describe;
  engine: Engine;
  /** Replaces the text. A typed text waits for a pause. */
  setText(text: string, typed?: boolean): void;
  /** Changes keys of the text, which keeps its comments. */
  edit(edits: Edit[]): void;
  check(text: string): Promise<Problem[]>;
  run(): void;
  stop(): void;
  keep(): void;
  /** Runs other scenarios to the end, and keeps these runs instead of all others. */
  compare(scenarios: { text: string; name?: string }[]): Promise<void>;
  /** Labels of the current run and the kept ones. */
  labels(): string[];
}

/** Makes the laboratory. */
export async function makeLab(makeEngine: () => Engine, text: string, visible: Chart["id"][]): Promise<Lab> {
  // Checks and edits have an engine of their own, so that they need not wait for the steps of a run.
  const engine = makeEngine();
  const describe = (await engine.ask({ do: "describe" })).header;
  if (!describe.relations)
    throw new Error(
      `The engine is older than this page: it is that of Ackclock ${describe.version}. Build both from the same ` +
        "sources (make page web), and restart the server or the notebook's kernel.",
    );
  const state = store<State>({
    text,
    checked: undefined,
    problems: [],
    error: "",
    running: false,
    progress: 0,
    status: "",
    current: undefined,
    kept: [],
    zoom: undefined,
    choice: { flows: [], link: "" },
    preferred: [],
    visible,
  });

  const runs = runner(makeEngine(), {
    onStart: () => state.set({ running: true, progress: 0 }),
    onProgress: (time, duration) => state.set({ progress: duration > 0 ? time / duration : 1 }),
    onRows: (recording, ran) => show(recording, ran),
    onFinish(recording, { summary, digest }, ran, milliseconds) {
      const full =
        recording.full === undefined
          ? ""
          : ` The curves end at ${recording.full.toPrecision(3)} s: the page stores no more rows.`;
      state.set({
        running: false,
        progress: 1,
        status: `${amount(summary.events)} events in ${duration(milliseconds)}.${full}`,
      });
      show(recording, ran, { summary, digest });
    },
    onStop(recording) {
      state.set({
        running: false,
        status: recording ? `Stopped at ${recording.reached.toPrecision(3)} s.` : "Stopped.",
      });
    },
    onError(error) {
      const problems = error instanceof Refused ? error.problems : [];
      state.set({ running: false, problems, error: error.message });
    },
  });

  function show(recording: Recording, ran: string, end: { summary?: Summary; digest?: string } = {}): void {
    const before = state.get();
    const values = before.checked?.text === ran ? before.checked.values : (before.current?.values ?? {});
    const current: Run = { recording, text: ran, values: valuesOf.get(ran) ?? values, ...end };
    const { flows, links, bottleneck } = recording.scenario;
    const chosen = before.choice.flows.filter((name) => flows.includes(name));
    const link = links.some(({ name }) => name === before.choice.link) ? before.choice.link : "";
    const same = before.current && before.current.recording.scenario.flows.join("\n") === flows.join("\n");
    const preferred = before.preferred.filter((name) => flows.includes(name));
    const choice = {
      flows:
        same && chosen.length > 0
          ? before.choice.flows
          : preferred.length > 0
            ? preferred
            : flows.slice(0, FLOWS_SHOWN),
      link: same && link ? link : (bottleneck ?? links[0]?.name ?? ""),
      ...(same && before.choice.run !== undefined && { run: before.choice.run }),
    };
    const zoom = before.zoom && before.zoom[1] <= recording.scenario.duration ? before.zoom : undefined;
    state.set({
      current,
      zoom,
      choice: JSON.stringify(choice) === JSON.stringify(before.choice) ? before.choice : choice,
    });
  }

  /** Documents of the texts that were checked lately, by text. */
  const valuesOf = new Map<string, Values>();
  let checks = 0;

  /** Checks the text and runs it, unless a newer one came meanwhile. */
  async function checkAndRun(): Promise<void> {
    const mine = ++checks;
    const wanted = state.get().text;
    try {
      const { header } = await engine.ask({ do: "check", text: wanted });
      if (mine !== checks) return;
      valuesOf.set(wanted, header.values);
      if (valuesOf.size > 50) valuesOf.delete(valuesOf.keys().next().value!);
      state.set({ checked: { ...header, text: wanted }, problems: [], error: "" });
      runs.start(wanted);
    } catch (error) {
      if (mine !== checks) return;
      runs.stop();
      const problems = error instanceof Refused ? error.problems : [];
      state.set({ problems, error: error instanceof Error ? error.message : String(error) });
    }
  }

  let pause: ReturnType<typeof setTimeout> | undefined;
  const pending = new Map<string, string | null>();
  let editing = false;

  /** Applies the edits that wait, in order; of a slider's many, the last. */
  async function applyEdits(): Promise<void> {
    editing = true;
    try {
      while (pending.size > 0) {
        const set: Edit[] = [...pending];
        pending.clear();
        const before = state.get().text;
        const { header } = await engine.ask({ do: "edit", text: before, set });
        // A text that came meanwhile, for instance from a lesson, is what the reader sees.
        if (state.get().text !== before) continue;
        lab.setText(header.text);
      }
    } catch (error) {
      state.set({ error: error instanceof Error ? error.message : String(error) });
    } finally {
      editing = false;
    }
  }

  let comparison = new AbortController();

  /** A run of another scenario, for comparison; undefined if it was stopped. */
  async function recorded(wanted: string, signal: AbortSignal): Promise<Run | undefined> {
    const { values } = (await engine.ask({ do: "check", text: wanted })).header;
    const made = await record(engine, wanted, { record: TRACES, signal });
    return made && { recording: made.recording, text: wanted, values, summary: made.summary, digest: made.digest };
  }

  const lab: Lab = {
    ...state,
    describe,
    engine,
    setText(next, typed = false) {
      clearTimeout(pause);
      if (next === state.get().text && state.get().checked?.text === next) return;
      state.set({ text: next });
      if (typed) pause = setTimeout(() => void checkAndRun(), 250);
      else void checkAndRun();
    },
    edit(edits) {
      for (const [key, literal] of edits) {
        pending.delete(key);
        pending.set(key, literal);
      }
      if (!editing) void applyEdits();
    },
    async check(wanted) {
      try {
        await engine.ask({ do: "check", text: wanted });
        return [];
      } catch (error) {
        if (error instanceof Refused) return error.problems;
        throw error;
      }
    },
    run() {
      clearTimeout(pause);
      void checkAndRun();
    },
    stop: () => runs.stop(),
    keep() {
      const { current, kept } = state.get();
      if (current?.summary) state.set({ kept: [...kept, current] });
    },
    async compare(scenarios) {
      comparison.abort();
      comparison = new AbortController();
      const { signal } = comparison;
      state.set({ kept: [] });
      try {
        for (const { text: wanted, name } of scenarios) {
          const made = await recorded(wanted, signal);
          if (!made || signal.aborted) return;
          state.set({ kept: [...state.get().kept, name === undefined ? made : { ...made, name }] });
        }
      } catch (error) {
        state.set({ error: error instanceof Error ? error.message : String(error) });
      }
    },
    labels() {
      const { current, kept } = state.get();
      const shown = current ? [current, ...kept] : kept;
      const made = differences(shown.map(({ values }) => values));
      return shown.map(({ name }, index) => name ?? made[index]!);
    },
  };
  void checkAndRun();
  return lab;
}

function amount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
