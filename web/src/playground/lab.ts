// The state of the playground and what changes it. The scenario's text is the one source of truth.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Chart, Choice, View } from "../charts/curves.ts";
import { type Recording, record, TRACES } from "../charts/recording.ts";
import { type CheckAnswer, type Edit, type Engine, type Problem, reason, Refused } from "../engine/protocol.ts";
import type { Summary } from "../scenario/generated/summary.ts";
import { differences, flowTitles } from "./differences.ts";
import type { Values } from "./knobs.ts";
import { runner } from "./runner.ts";

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

/** Flows that the charts show unless the reader chooses others. */
export const FLOWS_SHOWN = 4;

/** The laboratory behind the page: what it shows, as signals, and what the reader can do. */
export type Lab = Awaited<ReturnType<typeof makeLab>>;

/** Waits until a function of signals gives a value. */
export function settled<T>(outcome: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    let end: (() => void) | undefined;
    let found: T | undefined;
    end = effect(() => {
      found ??= outcome();
      if (found === undefined) return;
      resolve(found);
      end?.();
    });
    if (found !== undefined) end();
  });
}

const namesOf = ({ recording }: Run): string => recording.scenario.flows.join("\n");

/** Makes the laboratory. */
export async function makeLab(makeEngine: () => Engine, first: string, charts: Chart["id"][]) {
  // Checks and edits have an engine of their own, so that they need not wait for the steps of a run.
  const engine = makeEngine();
  const describe = (await engine.ask({ do: "describe" })).header;
  if (!describe.relations)
    throw new Error(
      `The engine is older than this page: it is that of Ackclock ${describe.version}. Build both from the same ` +
        "sources (make page web), and restart the server or the notebook's kernel.",
    );
  const text = signal(first);
  /** The newest text without faults, as the engine understands it. */
  const checked = signal<CheckAnswer & { text: string }>();
  /** Faults of the text. */
  const problems = signal<Problem[]>([]);
  /** The faults as one message, or why the engine failed. */
  const error = signal("");
  const running = signal(false);
  /** Share of the run that is over, from 0 to 1. */
  const progress = signal(0);
  /** Sentence about the last run. */
  const status = signal("");
  const current = signal<Run>();
  const kept = signal<Run[]>([]);
  const zoom = signal<[from: number, to: number]>();
  const visible = signal(charts);

  /** What was picked among the flows of these names. */
  const picked = signal<Partial<Choice> & { among?: string }>({});
  let preferred: (Partial<Choice> & { text: string }) | undefined;
  /** The curves that the charts show: those picked, otherwise the first. */
  const choice = computed((): Choice => {
    if (!current.value) return { flows: [], link: "" };
    const { flows, links, bottleneck } = current.value.recording.scenario;
    const { among, flows: wanted = [], link, run } = picked.value;
    const valid = among === namesOf(current.value);
    const known = valid ? wanted.filter((name) => flows.includes(name)) : [];
    const knownLink = valid && links.some(({ name }) => name === link) ? link : undefined;
    return {
      flows: known.length > 0 ? known : flows.slice(0, FLOWS_SHOWN),
      link: knownLink ?? bottleneck ?? links[0]?.name ?? "",
      ...(valid && run !== undefined && { run }),
    };
  });
  const shown = computed(() => (current.value ? [current.value, ...kept.value] : kept.value));
  /** Labels of the current run and the kept ones. */
  const labels = computed(() => {
    const made = differences(shown.value.map(({ values }) => values));
    return shown.value.map(({ name }, index) => name ?? made[index]!);
  });
  /** What the charts draw: the current run and those kept; undefined before the first row. */
  const view = computed((): View | undefined => {
    if (!current.value) return undefined;
    const runs = shown.value.map(({ recording, values }, index) => ({
      recording,
      label: labels.value[index]!,
      titles: flowTitles(values, recording.scenario.flows),
    }));
    return { runs, choice: choice.value, visible: visible.value, zoom: zoom.value };
  });

  const runs = runner(makeEngine(), {
    onStart: () =>
      batch(() => {
        running.value = true;
        progress.value = 0;
      }),
    onProgress(time, duration) {
      progress.value = duration > 0 ? time / duration : 1;
    },
    onRows: (recording, ran) => batch(() => show(recording, ran)),
    onFinish(recording, { summary, digest }, ran, milliseconds) {
      const full =
        recording.full === undefined
          ? ""
          : ` The curves end at ${recording.full.toPrecision(3)} s: the page stores no more rows.`;
      batch(() => {
        running.value = false;
        progress.value = 1;
        status.value = `${amount(summary.events)} events in ${duration(milliseconds)}.${full}`;
        show(recording, ran, { summary, digest });
      });
    },
    onStop: (recording) =>
      batch(() => {
        running.value = false;
        status.value = recording ? `Stopped at ${recording.reached.toPrecision(3)} s.` : "Stopped.";
      }),
    onError: (fault) =>
      batch(() => {
        running.value = false;
        refuse(fault);
      }),
  });

  function show(recording: Recording, ran: string, end: { summary?: Summary; digest?: string } = {}): void {
    const last = checked.value?.text === ran ? checked.value.values : (current.value?.values ?? {});
    current.value = { recording, text: ran, values: valuesOf.get(ran) ?? last, ...end };
    if (preferred?.text === ran) pick(preferred);
    if (zoom.value && zoom.value[1] > recording.scenario.duration) zoom.value = undefined;
  }

  /** Says why the engine refused a text, or failed. */
  function refuse(fault: unknown): void {
    problems.value = fault instanceof Refused ? fault.problems : [];
    error.value = reason(fault);
  }

  /** Documents of the texts that were checked lately, by text. */
  const valuesOf = new Map<string, Values>();
  let checks = 0;

  /** Checks the text and runs it, unless a newer one came meanwhile. */
  async function checkAndRun(): Promise<void> {
    const mine = ++checks;
    const wanted = text.value;
    try {
      const { header } = await engine.ask({ do: "check", text: wanted });
      if (mine !== checks) return;
      valuesOf.set(wanted, header.values);
      if (valuesOf.size > 50) valuesOf.delete(valuesOf.keys().next().value!);
      batch(() => {
        checked.value = { ...header, text: wanted };
        problems.value = [];
        error.value = "";
      });
      runs.start(wanted);
    } catch (fault) {
      if (mine !== checks) return;
      runs.stop();
      batch(() => refuse(fault));
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
        const before = text.value;
        const { header } = await engine.ask({ do: "edit", text: before, set });
        // A text that came meanwhile, for instance from a lesson, is what the reader sees.
        if (text.value !== before) continue;
        setText(header.text);
      }
    } catch (fault) {
      error.value = reason(fault);
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

  /** Replaces the text. A typed text waits for a pause. */
  function setText(next: string, typed = false): void {
    clearTimeout(pause);
    if (next === text.value && checked.value?.text === next) return;
    text.value = next;
    if (typed) pause = setTimeout(() => void checkAndRun(), 250);
    else void checkAndRun();
  }

  /** Changes keys of the text, which keeps its comments. */
  function edit(edits: Edit[]): void {
    for (const [key, literal] of edits) {
      pending.delete(key);
      pending.set(key, literal);
    }
    if (!editing) void applyEdits();
  }

  /** Picks curves; until a run has other flows, they stay. */
  function pick(change: Partial<Choice>): void {
    preferred = undefined;
    picked.value = { ...choice.value, ...change, ...(current.value && { among: namesOf(current.value) }) };
  }

  /** Picks curves of the runs of a text, now or with the first of them. */
  function prefer(wanted: string, change: Partial<Choice>): void {
    preferred = { text: wanted, ...change };
    if (current.value?.text === wanted) pick(change);
  }

  function run(): void {
    clearTimeout(pause);
    void checkAndRun();
  }

  function keep(): void {
    if (current.value?.summary) kept.value = [...kept.value, current.value];
  }

  /** Runs other scenarios to the end, and keeps these runs instead of all others. */
  async function compare(scenarios: { text: string; name?: string }[]): Promise<void> {
    comparison.abort();
    comparison = new AbortController();
    const { signal } = comparison;
    kept.value = [];
    try {
      for (const { text: wanted, name } of scenarios) {
        const made = await recorded(wanted, signal);
        if (!made || signal.aborted) return;
        kept.value = [...kept.value, name === undefined ? made : { ...made, name }];
      }
    } catch (fault) {
      error.value = reason(fault);
    }
  }

  run();
  return {
    ...{ describe, engine, text, checked, problems, error, running, progress, status },
    ...{ current, kept, zoom, visible, choice, labels, view },
    ...{ setText, edit, pick, prefer, run, stop: runs.stop, keep, compare },
  };
}

function amount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
