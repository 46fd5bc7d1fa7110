// "Judge again with other seeds" below a claim: further repetitions of its cells, judged by the same rules.
import { fill, h } from "../dom.ts";
import { type Claim, type Repeated, type Row, textOf } from "./data.ts";
import { type Judgement, judge } from "./judge.ts";
import type { Laboratory } from "./laboratory.ts";
import type { Job } from "./simulate.ts";
import type { Interval } from "./statistics.ts";
import { disclosure, shortened, task } from "./task.ts";

const COUNTS = [2, 3, 5, 10, 20];
const WORDS: { [sampling: string]: [one: string, several: string] } = {
  seed: ["seed", "seeds"],
  path: ["drawn path", "drawn paths"],
  offset: ["start time", "start times"],
};

/** Adds the disclosure to a claim. */
export function mountClaim(element: HTMLElement, claim: Claim, laboratory: Laboratory): void {
  const { data } = laboratory;
  const kinds = [...new Set(claim.cells.map((cell) => data.cells[cell]!.sampling))].map((each) => WORDS[each]?.[1]);
  const judged = claim.readings.filter((reading) => !reading.reason);
  const refused = claim.readings.filter((reading) => reading.reason);
  const why = refused.map((reading) =>
    h("p", { class: "soft" }, `${reading.title} cannot be judged again in the page: ${reading.reason}.`),
  );
  if (!judged.length) {
    element.append(...why);
    return;
  }
  const summary = `Judge again with other ${kinds.filter(Boolean).join(" or ") || "runs"}`;
  element.append(
    disclosure(summary, async (into) => {
      fill(into, body(claim, laboratory), why);
    }),
  );
}

function body(claim: Claim, laboratory: Laboratory): HTMLElement {
  const { data } = laboratory;
  // Only common seeds pair the cells of one axis.
  const wanted = claim.kind === "equal" ? "common" : "own";
  const further = (cell: number): [seeds: "own" | "common" | null, list: Repeated[]] => {
    const { seeds } = data.cells[cell]!;
    return seeds.any === undefined
      ? [wanted, data.repeated[seeds[wanted] ?? -1] ?? []]
      : [null, data.repeated[seeds.any]!];
  };
  const most = Math.max(...claim.cells.map((cell) => further(cell)[1].length));
  const choices = COUNTS.filter((count) => count <= most);
  const counts = h(
    "select",
    {},
    choices.map((count) => h("option", { value: String(count) }, String(count))),
  );
  counts.value = String(choices.includes(3) ? 3 : choices[0]);
  const runs = h("span", { class: "soft" });
  const tell = () => fill(runs, `${(claim.cells.length * Number(counts.value)).toLocaleString("en")} runs`);
  counts.addEventListener("change", tell);
  tell();
  const out = h("div", {});
  const running = task("Judge again", async (signal, progress) => {
    const count = Number(counts.value);
    const planned = claim.cells.flatMap((cell) => {
      const [seeds, list] = further(cell);
      return list.slice(0, count).map((repeated, unit) => ({ cell, seeds, repeated, unit }));
    });
    const jobs = planned.map(({ cell, repeated }): Job => {
      const own = data.cells[cell]!;
      return { text: textOf(data, own, repeated), measures: data.measures[own.measures]!, record: [] };
    });
    const done = await laboratory.all(jobs, progress, signal);
    if (!done) return "";
    const rows = planned.flatMap(({ cell, seeds, unit }, at) => {
      const { labels, sampling } = data.cells[cell]!;
      const fixed = { ...labels, sampling, seeds, unit };
      return done[at]!.rows.map(
        (row): Row => ({ ...row, ...fixed, ...(data.flows ? { [data.flows]: row.flow } : {}) }),
      );
    });
    const judged = claim.readings.filter((reading) => !reading.reason);
    const lines = judged.map((reading) => {
      const found = judge(claim, reading.metric, [...rows, ...data.formulas], data.labels);
      return resultOf(reading, found, sampled(claim, laboratory, count));
    });
    fill(out, lines);
    return `${planned.length} runs done.`;
  });
  return h(
    "div",
    {},
    h("div", { class: "again-fields" }, h("label", {}, h("span", {}, "Further runs of each cell"), counts), runs),
    running.element,
    out,
  );
}

function sampled(claim: Claim, { data }: Laboratory, count: number): string {
  const [one, several] = WORDS[data.cells[claim.cells[0]!]!.sampling] ?? ["run", "runs"];
  return `${count} further ${count === 1 ? one : several}`;
}

const slug = (verdict: string) => `verdict ${verdict.replaceAll(" ", "-")}`;

function resultOf(reading: Claim["readings"][number], found: Judgement, what: string): HTMLElement {
  const why = (word: string | null) => (word ? ` (${word})` : "");
  const line = h(
    "p",
    { class: "again-verdict", "data-verdict": found.verdict, "data-metric": reading.metric },
    h("b", {}, reading.title),
    `: ${what}: `,
    h("span", { class: slug(found.verdict) }, found.verdict),
    `${why(found.why)}; stored: `,
    h("span", { class: slug(reading.verdict) }, reading.verdict),
    why(reading.why),
  );
  return h("div", { class: "reading" }, line, details(found, reading.unit));
}

/** The means of a single cell with their unit, otherwise the comparisons by their verdict. */
function details(found: Judgement, unit: string): HTMLElement {
  if (found.measured.length === 1) {
    const rows = found.measured[0]!.variants.map(([name, mean]) =>
      h(
        "tr",
        {},
        h("td", {}, name),
        h("td", {}, shortened(mean.mean)),
        h("td", { class: "soft" }, `${ends(mean)} ${unit}`.trim()),
      ),
    );
    return h("table", { class: "inner" }, h("tbody", {}, rows));
  }
  const counts = new Map<string, number>();
  for (const { verdict } of found.comparisons) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const said = [...counts].map(([verdict, count]) => `${verdict}: ${count}`).join(", ");
  return h(
    "p",
    { class: "soft" },
    `${found.comparisons.length} comparisons in ${found.measured.length} cells: ${said}`,
  );
}

const ends = ({ low, high }: Interval) => `[${shortened(low)}, ${shortened(high)}]`;
