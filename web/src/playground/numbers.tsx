// The key numbers of the runs: a table, which is also what the charts say to a reader who does not see them.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { shown } from "../charts/panel.ts";
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

/** Milliseconds after a run in which no other came: a slider that moves would otherwise speak without end. */
const QUIET = 1200;

type Finished = Run & { summary: NonNullable<Run["summary"]> };

/** The tables of the newest runs that came to their end. */
export function Numbers({ lab }: { lab: Lab }): JSX.Element {
  const current = lab.current.value;
  const labels = lab.labels.value;
  const unfinished = current !== undefined && !current.summary;
  const last = useRef<JSX.Element>(undefined);
  const [said, say] = useState("");
  useEffect(() => {
    if (!current?.summary) return;
    const timer = setTimeout(() => say(sentence(current)), QUIET);
    return () => clearTimeout(timer);
  }, [current]);
  if (current?.summary) {
    const runs = [current, ...lab.kept.value].filter((run): run is Finished => run.summary !== undefined);
    const { link } = lab.choice.value;
    const rows = <Row,>(of: (run: Finished) => Row[]) =>
      runs.flatMap((run, index) => of(run).map((row) => ({ row, run: labels[index]! })));
    const several = runs.length > 1;
    last.current = (
      <>
        <Table noun="Flow" columns={FLOWS} several={several} rows={rows(({ summary }) => summary.flows)} />
        <Table
          noun="Link"
          columns={LINKS}
          several={several}
          rows={rows(({ summary }) => summary.links.filter(({ name }) => name === link))}
        />
        {current.summary.warnings.map(({ text }) => (
          <p class="warning">{text}</p>
        ))}
      </>
    );
  } else if (unfinished && !lab.running.value) {
    last.current = <p class="soft">The run was stopped. Key numbers are those of a whole run.</p>;
  }
  return (
    <section class="card numbers" aria-label="Key numbers" hidden={!current}>
      <h2>Key numbers</h2>
      <div class={unfinished && lab.running.value ? "stale" : ""}>{last.current}</div>
      <p class="unseen" role="status">
        {unfinished && !lab.running.value ? "" : said}
      </p>
    </section>
  );
}

/** The run in one sentence for each of its first flows. */
function sentence({ summary }: Run): string {
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

type TableProperties<Row> = {
  noun: string;
  columns: Column<Row>[];
  several: boolean;
  rows: { row: Row; run: string }[];
};

/** A table of the rows of one or `several` runs. */
function Table<Row extends { name: string }>({ noun, columns, several, rows }: TableProperties<Row>): JSX.Element {
  const heads = columns.map(({ title, unit }) => (
    <th scope="col" class="number">
      {title}
      {unit && <span class="unit"> {unit}</span>}
    </th>
  ));
  const cell = (text: string) => <td class="number">{text}</td>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is too wide can be scrolled by the keyboard
    <section class="scroll" tabIndex={0} aria-label={`Key numbers of each ${noun.toLowerCase()}`}>
      <table>
        <thead>
          <tr>
            {several && <th scope="col">Run</th>}
            <th scope="col">{noun}</th>
            {heads}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ row, run }) => (
            <tr>
              {several && <td>{run}</td>}
              <th scope="row">{row.name}</th>
              {columns.map(({ text }) => cell(text(row)))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && <p class="soft">{rows.length - MOST_ROWS} more rows are not shown.</p>}
    </section>
  );
}
