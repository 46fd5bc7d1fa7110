// "Run this again with …" below a figure: runs cells of it with other settings, and draws them beside the stored ones.
import { fill, h } from "../dom.ts";
import { curve } from "./curves.ts";
import {
  type Again,
  type Cell,
  type Curves,
  isValues,
  type Repeated,
  textOf,
  type ValueRun,
  type Values,
} from "./data.ts";
import { readFrozen } from "./frozen.ts";
import { addSeries, type Figure, type Host, removeSeries } from "./host.ts";
import type { Laboratory } from "./laboratory.ts";
import type { Measured } from "./measures.ts";
import { type Form, type Settings, settingsForm } from "./settings.ts";
import type { Done, Job } from "./simulate.ts";
import { mean } from "./statistics.ts";
import { disclosure, shortened, task } from "./task.ts";

const COUNTS = [1, 3, 5, 10, 20];
const MOST_RUNS = 200;

/** A cell in one of its repetitions. */
interface Planned {
  cell: number;
  repeated: Repeated | undefined;
}

/** Adds the disclosure to a figure. */
export function mountAgain(host: Host, figure: Figure, laboratory: Laboratory): void {
  const again = figure.spec.again;
  if (!again) return;
  figure.element.append(
    disclosure("Run this again with …", async (into) => {
      const form = settingsForm(await laboratory.describe());
      fill(into, body(host, figure, again, laboratory, form));
    }),
  );
}

function body(host: Host, figure: Figure, again: Again, laboratory: Laboratory, form: Form): HTMLElement {
  const { data } = laboratory;
  const places = [...new Set(again.runs.map((run) => run[0]))];
  const choice = cellChoice(places, data.cells, () => show());
  const further = (place: number) => {
    const { seeds } = data.cells[place]!;
    return data.repeated[seeds.any ?? seeds.own ?? seeds.common ?? -1] ?? [];
  };
  const counts = h("select", {}, h("option", { value: "0" }, "the stored run"));
  const most = Math.max(...places.map((place) => further(place).length), 0);
  for (const count of COUNTS.filter((each) => each <= most)) {
    counts.append(h("option", { value: String(count) }, count === 1 ? "another run" : `${count} other runs`));
  }
  const out = h("div", { class: "again-out" });
  let pressed = 0;

  function plan(): Planned[] {
    const count = Number(counts.value);
    return choice.chosen().flatMap((cell): Planned[] =>
      count
        ? further(cell)
            .slice(0, count)
            .map((repeated) => ({ cell, repeated }))
        : [{ cell, repeated: undefined }],
    );
  }

  async function text({ cell, repeated }: Planned, settings: Settings): Promise<string> {
    const base = textOf(data, data.cells[cell]!, repeated);
    return settings.length ? (await laboratory.check(base, settings)).frozen : base;
  }

  const record = isValues(again) ? [] : [traceOf(again.kind)];

  async function run(signal: AbortSignal, progress: (share: number) => void): Promise<string> {
    const { settings, said } = form.read();
    const planned = plan();
    // A ratio also needs the cell by which it is divided.
    const partners = new Map(
      isValues(again) ? again.runs.flatMap((it) => (it[5] === undefined ? [] : [[it[0], it[5]] as const])) : [],
    );
    const all = planned.flatMap((it) => {
      const other = partners.get(it.cell);
      if (other === undefined || other === it.cell) return [it];
      const at = it.repeated ? further(it.cell).indexOf(it.repeated) : -1;
      return [it, { cell: other, repeated: it.repeated && further(other)[at] }];
    });
    if (all.length > MOST_RUNS) throw new Error(`These are ${all.length} runs; choose at most ${MOST_RUNS}.`);
    const jobs: Job[] = [];
    for (const it of all) {
      const measures = data.measures[data.cells[it.cell]!.measures]!;
      jobs.push({ text: await text(it, settings), measures, record });
    }
    const done = await laboratory.all(jobs, progress, signal);
    if (!done) return "";
    pressed += 1;
    const results = new Map<number, Done[]>();
    all.forEach((it, at) => {
      const own = results.get(it.cell) ?? [];
      if (!own.includes(done[at]!)) results.set(it.cell, [...own, done[at]!]);
    });
    const chosen = new Set(planned.map((it) => it.cell));
    const tag = `run ${pressed}${said ? ` (${said})` : ""}`;
    const rows = isValues(again)
      ? drawValues(figure, again, chosen, results, { tag, pressed })
      : drawCurves(figure, again, chosen, results, { tag, pressed }, data.cells);
    host.redraw(figure);
    const equal = settings.length || Number(counts.value) ? "" : sameAsStored(data.cells, chosen, results);
    const [panel] = figure.spec.panels;
    const unit = isValues(again) ? (panel?.heatmap?.unit ?? panel?.y.title ?? "") : "goodput (Mbit/s)";
    out.prepend(resultTable(`Run ${pressed}${said ? `: ${said}` : ""}`, unit, rows));
    return `${done.length === 1 ? "1 run" : `${new Set(done).size} runs`} done. ${equal}`.trim();
  }

  const reset = h("button", { type: "button" }, "Reset");
  const copyScenario = h("button", { type: "button" }, "Copy the scenario");
  const copyCommand = h("button", { type: "button" }, "Copy the command");
  const running = task("Run", run, [reset, copyScenario, copyCommand]);
  reset.addEventListener("click", () => {
    removeSeries(figure);
    host.redraw(figure);
    form.reset();
    fill(out);
    pressed = 0;
    running.say("");
  });
  copyScenario.addEventListener("click", async () => {
    try {
      const first = plan()[0]!;
      await copy(out, await text(first, form.read().settings));
      running.say(`Copied the scenario of ${nameOf(first)}.`);
    } catch (error) {
      running.say(error instanceof Error ? error.message : String(error), true);
    }
  });
  copyCommand.addEventListener("click", async () => {
    const kept = record.length ? ` --set 'record=${JSON.stringify(record)}'` : "";
    await copy(out, `ackclock run scenario.toml${kept} --out out/again && ackclock report out/again`);
    running.say("Copied the command. It runs the copied scenario from the file scenario.toml.");
  });
  const nameOf = ({ cell, repeated }: Planned) =>
    [
      ...Object.entries(choice.labelsOf(cell)).map(([label, value]) => `${label} ${value}`),
      repeated?.[0] ?? data.cells[cell]!.name,
    ].join(", ");

  async function show(): Promise<void> {
    const cell = data.cells[choice.chosen()[0]!]!;
    const base = textOf(data, cell);
    try {
      form.show({ frozen: readFrozen(base), info: (await laboratory.check(base)).scenario, rtt: cell.rtt });
    } catch (error) {
      running.say(error instanceof Error ? error.message : String(error), true);
    }
  }
  void show();
  const runs = most ? h("label", {}, h("span", {}, "Runs"), counts) : null;
  return h("div", {}, h("div", { class: "again-fields" }, choice.fields, runs), form.element, running.element, out);
}

/** The trace of a kind of curves. */
function traceOf(kind: string): string {
  return kind === "throughput" ? "delivered" : kind;
}

/** Menus of the labels in which the cells of a figure differ. */
function cellChoice(places: readonly number[], cells: readonly Cell[], changed: () => void) {
  const labels = Object.keys(cells[places[0]!]!.labels).filter(
    (label) => new Set(places.map((place) => cells[place]!.labels[label])).size > 1,
  );
  const selects = labels.map((label) => {
    const values = [...new Set(places.map((place) => cells[place]!.labels[label]!))];
    const options = values.map((value) => h("option", { value }, value));
    return h("select", {}, options, h("option", { value: "*" }, "all"));
  });
  const fits = (place: number, without?: number) =>
    selects.every(
      (select, at) => at === without || select.value === "*" || cells[place]!.labels[labels[at]!] === select.value,
    );
  const chosen = () => places.filter((place) => fits(place));
  selects.forEach((select, changedAt) => {
    select.addEventListener("change", () => {
      // Not every combination was run: other menus follow the one that was changed.
      if (!chosen().length) {
        const near = places.filter((place) => cells[place]!.labels[labels[changedAt]!] === select.value);
        const agree = (place: number) =>
          selects.filter((other, at) => cells[place]!.labels[labels[at]!] === other.value).length;
        const best = near.sort((a, b) => agree(b) - agree(a))[0]!;
        selects.forEach((other, at) => {
          if (at !== changedAt && other.value !== "*") other.value = cells[best]!.labels[labels[at]!]!;
        });
      }
      changed();
    });
  });
  const first = places[0]!;
  selects.forEach((select, at) => {
    select.value = cells[first]!.labels[labels[at]!]!;
  });
  return {
    fields: selects.map((select, at) => h("label", {}, h("span", {}, labels[at]!), select)),
    chosen,
    labelsOf: (place: number) => Object.fromEntries(labels.map((label) => [label, cells[place]!.labels[label]!])),
  };
}

/** What the names of series and their look tell of a press of the button. */
interface Tag {
  tag: string;
  pressed: number;
}

interface Shown {
  what: string;
  again: string;
  stored: string;
}

const rowOf = (done: Done, flow: string | null): Measured | undefined =>
  flow === null ? done.rows[0] : done.rows.find((row) => row.flow === flow);

/** Adds curves, and returns the goodput of their flows. */
function drawCurves(
  figure: Figure,
  again: Curves,
  chosen: Set<number>,
  results: Map<number, Done[]>,
  { tag, pressed }: Tag,
  cells: readonly Cell[],
): Shown[] {
  const shown: Shown[] = [];
  for (const [cell, flow, panel, series, quantity = series] of again.runs) {
    if (!chosen.has(cell)) continue;
    const goodputs: number[] = [];
    for (const done of results.get(cell)!) {
      const own = again.kind === "queue" ? flow : (rowOf(done, flow)?.flow ?? null);
      if (own === null) continue;
      const { duration } = done.scenario;
      const drawn = curve(done.run, again.kind, own, {
        duration,
        bin: again.bin,
        end: again.end,
        sampled: again.sampled,
        quantity,
      });
      if (!drawn) continue;
      const { step, ...points } = drawn;
      addSeries(figure, panel, series, {
        name: `${series}, ${tag}`,
        style: step ? "step" : "line",
        ...points,
        again: pressed,
      });
      const goodput = rowOf(done, flow)?.["goodput_bps"];
      if (typeof goodput === "number") goodputs.push(goodput / 1e6);
    }
    const what = `${figure.spec.panels[panel]?.title ?? ""} ${series}`.trim();
    const own = results.get(cell)!.map((done) => rowOf(done, flow)?.flow)[0];
    const stored = cells[cell]!.stored[own ?? ""]?.["goodput_bps"];
    if (goodputs.length && !shown.some((row) => row.what === what)) {
      shown.push({ what, again: of(goodputs), stored: typeof stored === "number" ? shortened(stored / 1e6) : "" });
    }
  }
  return shown;
}

/** The mean, and the range of several values. */
function of(values: readonly number[]): string {
  if (values.length === 1) return shortened(values[0]!);
  return `${shortened(mean(values))} [${shortened(Math.min(...values))}, ${shortened(Math.max(...values))}]`;
}

/** Adds points, and returns their values beside the stored ones. */
function drawValues(
  figure: Figure,
  again: Values,
  chosen: Set<number>,
  results: Map<number, Done[]>,
  { tag, pressed }: Tag,
): Shown[] {
  const points = new Map<string, { run: ValueRun; values: number[][] }>();
  for (const run of again.runs) {
    const [cell, , panel, x, series] = run;
    if (!chosen.has(cell)) continue;
    const key = JSON.stringify([panel, x, series]);
    const point = points.get(key) ?? { run, values: results.get(cell)!.map(() => []) };
    points.set(key, point);
    results.get(cell)!.forEach((done, at) => {
      const value = divided(again, run, done, run[5] === undefined ? undefined : results.get(run[5])?.[at]);
      if (value !== null) point.values[at]?.push(value);
    });
  }
  const shown: Shown[] = [];
  const series = new Map<string, { panel: number; like: string; x: string[]; values: number[][] }>();
  for (const { run, values } of points.values()) {
    const [, , panel, x, like] = run;
    const found = values.filter((own) => own.length).map((own) => mean(own));
    if (!found.length) continue;
    const title = figure.spec.panels[panel]?.title;
    shown.push({
      what: [title, x, like].filter(Boolean).join(", "),
      again: of(found),
      stored: storedText(figure, panel, x, like),
    });
    const key = JSON.stringify([panel, like]);
    const drawn = series.get(key) ?? { panel, like, x: [], values: [] };
    series.set(key, drawn);
    drawn.x.push(x);
    drawn.values.push(found);
  }
  if (again.kind === "grid") return shown;
  for (const { panel, like, x, values } of series.values()) {
    addSeries(figure, panel, like, {
      name: `${like}, ${tag}`,
      style: "again",
      x,
      y: values.map((own) => mean(own)),
      low: values.map((own) => Math.min(...own)),
      high: values.map((own) => Math.max(...own)),
      texts: values.map(of),
      again: pressed,
    });
  }
  return shown;
}

function divided(
  again: Values,
  [, flow, , , , over, other]: ValueRun,
  done: Done,
  divisor: Done | undefined,
): number | null {
  const value = rowOf(done, flow)?.[again.metric];
  if (typeof value !== "number") return null;
  if (again.equals !== null) return Number(value === again.equals);
  if (over === undefined) return value * again.factor;
  const below = divisor && rowOf(divisor, other ?? flow)?.[again.metric];
  return typeof below === "number" && below !== 0 ? value / below : null;
}

/** The stored text of a point or of a cell of a map. */
function storedText(figure: Figure, panel: number, x: string, series: string): string {
  const spec = figure.spec.panels[panel];
  if (spec?.heatmap) return spec.heatmap.texts[spec.heatmap.y.indexOf(series)]?.[spec.heatmap.x.indexOf(x)] ?? "";
  const stored = spec?.series?.find((each) => each.name === series && !each.again);
  const at = stored?.x?.indexOf(x) ?? -1;
  return stored?.texts?.[at] ?? "";
}

/** Compares every stored number of the repeated runs. */
function sameAsStored(cells: readonly Cell[], chosen: Set<number>, results: Map<number, Done[]>): string {
  let equal = 0;
  const other: string[] = [];
  for (const cell of chosen) {
    for (const [flow, values] of Object.entries(cells[cell]!.stored)) {
      const row = rowOf(results.get(cell)![0]!, flow);
      for (const [column, value] of Object.entries(values)) {
        if ((row?.[column] ?? null) === value) equal += 1;
        else other.push(column);
      }
    }
  }
  if (!other.length) return equal ? `All ${equal} stored numbers of this run are equal.` : "";
  return `${equal} of ${equal + other.length} stored numbers of this run are equal; different: ${[...new Set(other)].join(", ")}.`;
}

function resultTable(title: string, unit: string, rows: readonly Shown[]): HTMLElement {
  const stored = rows.some((row) => row.stored);
  const heads = [unit, "again", ...(stored ? ["stored"] : [])].map((text) => h("th", { scope: "col" }, text));
  const body = rows.map((row) =>
    h("tr", {}, h("td", {}, row.what), h("td", {}, row.again), stored && h("td", { class: "soft" }, row.stored)),
  );
  return h(
    "div",
    { class: "again-result" },
    h("p", {}, title),
    h(
      "div",
      { class: "scroll" },
      h("table", { class: "again-table" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)),
    ),
  );
}

/** Puts a text on the clipboard; where that is not allowed, a field shows it. */
async function copy(out: HTMLElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = h("textarea", { readOnly: true, rows: 6, value: text, "aria-label": "Text to copy" });
    out.prepend(field);
    field.select();
  }
}
