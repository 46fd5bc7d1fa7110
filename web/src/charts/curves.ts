// Which curves the charts have: of the chosen flows or link, of the current run and of those that were kept.
import { colour, faint } from "./colours.ts";
import type { Curve } from "./panel.ts";
import type { Quantity, Recording } from "./recording.ts";

/** A chart of the page. */
export interface Chart {
  id: "cwnd" | "queue" | "throughput" | "sequence" | "delay" | "wait";
  title: string;
  /** Name on the button that shows or hides the chart. */
  short: string;
  unit: string;
  height: number;
  /** The quantities it draws; the first is named in the legend. */
  draws: {
    quantity: Quantity;
    kind: Curve["kind"];
    factor: number;
    style: "main" | "dashed" | "alarm" | "thin";
    name?: string;
  }[];
}

/** The charts, from top to bottom. */
export const CHARTS: Chart[] = [
  {
    id: "cwnd",
    title: "Congestion window",
    short: "Window",
    unit: "segments",
    height: 200,
    draws: [
      { quantity: "cwnd", kind: "held", factor: 1, style: "main" },
      { quantity: "ssthresh", kind: "held", factor: 1, style: "dashed", name: "ssthresh" },
    ],
  },
  {
    id: "queue",
    title: "Queue",
    short: "Queue",
    unit: "packets",
    height: 150,
    draws: [
      { quantity: "queue", kind: "held", factor: 1, style: "main" },
      { quantity: "drops", kind: "dots", factor: 1, style: "alarm", name: "drops" },
    ],
  },
  {
    id: "throughput",
    title: "Throughput",
    short: "Throughput",
    unit: "Mbit/s",
    height: 150,
    draws: [{ quantity: "delivered", kind: "rate", factor: 8e-6, style: "main" }],
  },
  {
    id: "sequence",
    title: "Sequence numbers",
    short: "Sequence",
    unit: "segments",
    height: 170,
    draws: [
      { quantity: "sent", kind: "dots", factor: 1, style: "main" },
      { quantity: "acked", kind: "held", factor: 1, style: "thin", name: "acknowledged" },
      { quantity: "resent", kind: "dots", factor: 1, style: "alarm", name: "retransmitted" },
    ],
  },
  {
    id: "delay",
    title: "Round-trip time",
    short: "Round trip",
    unit: "ms",
    height: 150,
    draws: [{ quantity: "rtt", kind: "held", factor: 1e3, style: "main" }],
  },
  {
    id: "wait",
    title: "Waiting time in the queue",
    short: "Waiting",
    unit: "ms",
    height: 150,
    draws: [{ quantity: "wait", kind: "held", factor: 1e3, style: "main" }],
  },
];

/** A run as the charts see it. */
export interface Drawn {
  label: string;
  recording: Recording;
  /** What flows are called whose names say nothing. */
  titles?: { [flow: string]: string };
}

/** What the reader chose to see. */
export interface Choice {
  /** Names of flows. */
  flows: string[];
  /** Name of a link. */
  link: string;
  /** Number of the run that charts of several flows show if the curves of all runs would hide each other; 0 is the current one. */
  run?: number;
}

/** What the charts show. */
export interface View {
  runs: Drawn[];
  choice: Choice;
  visible: Chart["id"][];
  /** Times that the reader zoomed into, in seconds; undefined shows the whole run. */
  zoom: [from: number, to: number] | undefined;
}

/** Colours of losses, and of the first kept run. */
const ALARM = 8;
const FIRST_KEPT = 2;

const DASHES = [
  [6, 3],
  [2, 3],
  [8, 3, 2, 3],
];

/** Curves of several flows in several runs that a reader can tell apart. */
const MOST_CURVES = 4;

/** The run that charts of several flows show; undefined if a chart shows all runs. */
export function onlyRun({ flows, run = 0 }: Choice, runs: readonly unknown[]): number | undefined {
  const many = flows.length > 1 && runs.length > 1 && flows.length * runs.length > MOST_CURVES;
  return many ? Math.min(run, runs.length - 1) : undefined;
}

/** The curves of a chart, the most important first; `runs` are the current run, then the kept ones. */
export function curves(chart: Chart, runs: Drawn[], choice: Choice, window: number): Curve[] {
  const found: Curve[] = [];
  const ofLink = chart.id === "queue";
  const only = ofLink ? undefined : onlyRun(choice, runs);
  for (const [number, { label, recording, titles }] of runs.entries()) {
    if (only !== undefined && number !== only) continue;
    const { scenario } = recording;
    const names = ofLink ? scenario.links.map((link) => link.name) : scenario.flows;
    const wanted = ofLink ? [choice.link] : choice.flows;
    const link = scenario.links.findIndex(({ name }) => name === choice.link);
    for (const [place, name] of wanted.entries()) {
      const index = names.indexOf(name);
      if (index < 0) continue;
      const alone = wanted.length === 1;
      const title = titles?.[name] ?? name;
      const base = colour(alone ? runColour(number) : place);
      const first = number === 0 || only !== undefined;
      for (const { quantity, kind, factor, style, name: second } of chart.draws) {
        const series = recording.series(quantity, index, link);
        if (!series || (number > 0 && style !== "main")) continue;
        found.push({
          label:
            second ??
            (only === undefined && (number > 0 || (alone && runs.length > 1))
              ? alone
                ? label
                : `${title}, ${label}`
              : title),
          series,
          kind,
          window,
          end: recording.reached,
          factor,
          colour:
            style === "alarm"
              ? colour(ALARM)
              : style === "main"
                ? first
                  ? base
                  : faint(base, 0.75)
                : faint(base, 0.55),
          width: style === "alarm" ? 5 : kind === "dots" ? 3 : style === "main" && first ? 2 : 1.25,
          ...(style === "dashed" ? { dash: [4, 4] } : !first && !alone ? { dash: dashOf(number) } : {}),
          scaled: style !== "dashed",
          named: style === "main" || place === 0,
          valued: style !== "alarm",
        });
      }
    }
  }
  return found;
}

/** Number of the colour of a run: 0 is the current one. */
export function runColour(number: number): number {
  return number === 0 ? 0 : number - 1 + FIRST_KEPT;
}

/** Dashes of a kept run among several flows, from 1 on. */
export function dashOf(number: number): number[] {
  return DASHES[(number - 1) % DASHES.length]!;
}

/** The unit of a chart, over which time or where it is measured, and of what, if its curves do not say so. */
export function note({ id, unit }: Chart, runs: Drawn[], choice: Choice, window: number): string {
  const parts = [id === "throughput" ? `${unit}, over ${Number(window.toPrecision(4))} s` : unit];
  if (id === "queue" || id === "wait") parts.push(`at ${choice.link}`);
  const only = onlyRun(choice, runs);
  if (id !== "queue" && only !== undefined) parts.push(`with ${runs[only]!.label}`);
  const several = (runs[0]?.recording.scenario.flows.length ?? 0) > 1;
  if (id !== "queue" && several && choice.flows.length === 1 && runs.length > 1) parts.push(`of ${choice.flows[0]}`);
  return parts.join(" ");
}

/** Seconds over which throughput is measured: about a hundredth of the run, as a round number. */
export function rateWindow(duration: number): number {
  const exact = duration / 100;
  const power = 10 ** Math.floor(Math.log10(exact));
  return [1, 2, 5, 10].map((factor) => factor * power).find((window) => window >= exact * 0.99)!;
}
