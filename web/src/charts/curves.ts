// Which curves the charts have: of the chosen flows or link, of the current run and of those that were kept.
import { colour, faint } from "./colours.ts";
import type { Curve } from "./panel.ts";
import type { Quantity, Recording } from "./recording.ts";

/** A chart of the page. */
export interface Chart {
  id: "cwnd" | "queue" | "throughput" | "sequence" | "delay" | "wait" | "path-rate" | "path-delay" | "path-loss";
  /** What its curves belong to: the chosen flows, the chosen link, or the path, which is there if it varies. */
  of: "flows" | "link" | "path";
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
    of: "flows",
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
    of: "link",
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
    of: "flows",
    title: "Throughput",
    short: "Throughput",
    unit: "Mbit/s",
    height: 150,
    draws: [{ quantity: "delivered", kind: "rate", factor: 8e-6, style: "main" }],
  },
  {
    id: "sequence",
    of: "flows",
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
    of: "flows",
    title: "Round-trip time",
    short: "Round trip",
    unit: "ms",
    height: 150,
    draws: [{ quantity: "rtt", kind: "held", factor: 1e3, style: "main" }],
  },
  {
    id: "wait",
    of: "flows",
    title: "Waiting time in the queue",
    short: "Waiting",
    unit: "ms",
    height: 150,
    draws: [{ quantity: "wait", kind: "held", factor: 1e3, style: "main" }],
  },
  {
    id: "path-rate",
    of: "path",
    title: "Rate of the path",
    short: "Path rate",
    unit: "Mbit/s",
    height: 110,
    draws: [{ quantity: "path rate", kind: "held", factor: 1e-6, style: "main" }],
  },
  {
    id: "path-delay",
    of: "path",
    title: "Delay of the path",
    short: "Path delay",
    unit: "ms",
    height: 110,
    draws: [
      { quantity: "path delay", kind: "held", factor: 1e3, style: "main" },
      { quantity: "path least", kind: "held", factor: 1e3, style: "thin", name: "least" },
      { quantity: "path largest", kind: "held", factor: 1e3, style: "thin", name: "largest" },
    ],
  },
  {
    id: "path-loss",
    of: "path",
    title: "Losses of the path",
    short: "Path losses",
    unit: "%",
    height: 110,
    draws: [{ quantity: "path loss", kind: "held", factor: 100, style: "main" }],
  },
];

/** The charts of the path. */
export const PATH = CHARTS.flatMap(({ id, of }) => (of === "path" ? id : []));

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
  const only = chart.of === "flows" ? onlyRun(choice, runs) : undefined;
  for (const [number, { label, recording, titles }] of runs.entries()) {
    if (only !== undefined && number !== only) continue;
    const { scenario } = recording;
    const names = chart.of === "flows" ? scenario.flows : scenario.links.map((link) => link.name);
    const wanted =
      chart.of === "path" ? ways(chart, runs, recording) : chart.of === "link" ? [choice.link] : choice.flows;
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
          end: chart.of === "path" ? scenario.duration : recording.reached,
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

/** The links that a chart of the path shows: both directions, the bottleneck first; of several runs, the bottleneck. */
function ways({ draws }: Chart, runs: Drawn[], recording: Recording): string[] {
  const { links, bottleneck } = recording.scenario;
  const known = links.flatMap(({ name }, index) => (recording.series(draws[0]!.quantity, index) ? name : []));
  const [there, back] = [true, false].map((first) => known.filter((name) => (name === bottleneck) === first));
  return runs.length > 1 ? there! : [...there!, ...back!];
}

/** The charts that have something to show: those of the path, if it varies in a run. */
export function offered(runs: Drawn[], choice: Choice): Chart[] {
  return CHARTS.filter((chart) => chart.of !== "path" || curves(chart, runs, choice, 1).length > 0);
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
export function note({ id, of, unit }: Chart, runs: Drawn[], choice: Choice, window: number): string {
  const parts = [id === "throughput" ? `${unit}, over ${Number(window.toPrecision(4))} s` : unit];
  if (id === "queue" || id === "wait") parts.push(`at ${choice.link}`);
  if (of === "path" && runs.length > 1) parts.push(`at ${runs[0]?.recording.scenario.bottleneck}`);
  const only = onlyRun(choice, runs);
  if (of === "flows" && only !== undefined) parts.push(`with ${runs[only]!.label}`);
  const several = (runs[0]?.recording.scenario.flows.length ?? 0) > 1;
  if (of === "flows" && several && choice.flows.length === 1 && runs.length > 1) parts.push(`of ${choice.flows[0]}`);
  return parts.join(" ");
}

/** Seconds over which throughput is measured: about a hundredth of the run, as a round number. */
export function rateWindow(duration: number): number {
  const exact = duration / 100;
  const power = 10 ** Math.floor(Math.log10(exact));
  return [1, 2, 5, 10].map((factor) => factor * power).find((window) => window >= exact * 0.99)!;
}
