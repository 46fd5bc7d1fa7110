// The key numbers of the runs: a table, which is also what the charts say to a reader who does not see them.
import { shown } from "../charts/panel.ts";
import { fill, h } from "../dom.ts";
import type { FlowSummary, LinkSummary } from "../engine/protocol.ts";
import type { Lab, Run } from "./lab.ts";

interface Column<Row> {
  title: string;
  unit?: string;
  text: (row: Row) => string;
}

/** A number of the summary in a larger or smaller unit. */
const scaled = (value: number | null, factor: number): string => shown(value === null ? null : value * factor);

const FLOWS: Column<FlowSummary>[] = [
  { title: "Goodput", unit: "Mbit/s", text: ({ goodput_bps }) => scaled(goodput_bps, 1e-6) },
  { title: "Sent", unit: "packets", text: ({ sent_packets }) => String(sent_packets) },
  { title: "Resent", unit: "packets", text: ({ retransmitted_packets }) => String(retransmitted_packets) },
  { title: "Lost", unit: "packets", text: ({ dropped_packets }) => String(dropped_packets) },
  { title: "Timeouts", text: ({ timeouts }) => String(timeouts) },
  {
    title: "Slow start ended",
    text: ({ slow_start_exit: exit }) =>
      exit ? `${shown(exit.time)} s, cwnd ${shown(exit.cwnd)} (${exit.reason})` : "–",
  },
  { title: "Completed", unit: "s", text: ({ completion_time }) => shown(completion_time) },
];

const LINKS: Column<LinkSummary>[] = [
  { title: "Utilisation", unit: "%", text: ({ utilisation }) => scaled(utilisation, 100) },
  { title: "Mean queue", unit: "packets", text: ({ queue_mean }) => shown(queue_mean) },
  { title: "Longest queue", unit: "packets", text: ({ queue_max }) => shown(queue_max) },
  { title: "Mean wait", unit: "ms", text: ({ sojourn_mean }) => scaled(sojourn_mean, 1e3) },
  { title: "Drops", unit: "packets", text: ({ drops, losses }) => String(drops + losses) },
  { title: "Marks", unit: "packets", text: ({ marks }) => String(marks) },
];

/** Rows of a table that has more are left out, with a line that says so. */
const MOST_ROWS = 24;

/** Mounts the tables. */
export function mountNumbers(place: HTMLElement, lab: Lab): void {
  const said = h("p", { class: "unseen", role: "status" });
  const tables = h("div");
  fill(place, h("h2", {}, "Key numbers"), tables, said);
  let timer: ReturnType<typeof setTimeout> | undefined;
  lab.subscribe((state, before) => {
    const stopped = !state.running && state.current !== undefined && !state.current.summary;
    tables.classList.toggle("stale", state.running && state.current !== undefined && !state.current.summary);
    if (stopped && before.running) {
      clearTimeout(timer);
      fill(said);
      fill(tables, h("p", { class: "soft" }, "The run was stopped. Key numbers are those of a whole run."));
    }
    if (state.current === before.current && state.kept === before.kept && state.choice === before.choice) return;
    const runs = [state.current, ...state.kept].filter((run) => run?.summary) as (Run & {
      summary: NonNullable<Run["summary"]>;
    })[];
    if (!state.current?.summary) return;
    const labels = lab.labels();
    const several = runs.length > 1;
    fill(
      tables,
      table(
        "Flow",
        FLOWS,
        several,
        runs.flatMap(({ summary }, run) => summary.flows.map((row) => ({ row, run: labels[run]! }))),
      ),
      table(
        "Link",
        LINKS,
        several,
        runs.flatMap(({ summary }, run) =>
          summary.links.filter(({ name }) => name === state.choice.link).map((row) => ({ row, run: labels[run]! })),
        ),
      ),
      state.current.summary.warnings.map(({ text }) => h("p", { class: "warning" }, text)),
    );
    // A slider that moves would otherwise speak without end.
    clearTimeout(timer);
    timer = setTimeout(() => fill(said, sentence(state.current!)), 1200);
  });
}

/** The run in one sentence for each of its first flows. */
export function sentence({ summary }: Run): string {
  if (!summary) return "";
  return summary.flows
    .slice(0, 4)
    .map(
      (flow) =>
        `${flow.name}: goodput ${scaled(flow.goodput_bps, 1e-6)} Mbit/s, ${flow.dropped_packets} packets lost, ${
          flow.slow_start_exit ? `slow start ended at ${shown(flow.slow_start_exit.time)} s` : "slow start not ended"
        }.`,
    )
    .join(" ");
}

function table<Row extends { name: string }>(
  noun: string,
  columns: Column<Row>[],
  several: boolean,
  rows: { row: Row; run: string }[],
): HTMLElement {
  const head = [several && h("th", { scope: "col" }, "Run"), h("th", { scope: "col" }, noun)];
  return h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Key numbers of each ${noun.toLowerCase()}` },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head,
          columns.map(({ title, unit }) =>
            h("th", { scope: "col", class: "number" }, title, unit && h("span", { class: "unit" }, ` ${unit}`)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.slice(0, MOST_ROWS).map(({ row, run }) =>
          h(
            "tr",
            {},
            several && h("td", {}, run),
            h("th", { scope: "row" }, row.name),
            columns.map(({ text }) => h("td", { class: "number" }, text(row))),
          ),
        ),
      ),
    ),
    rows.length > MOST_ROWS && h("p", { class: "soft" }, `${rows.length - MOST_ROWS} more rows are not shown.`),
  );
}
