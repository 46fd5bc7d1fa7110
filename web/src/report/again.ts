// "Run this again with …" below a figure: runs cells of it with other settings, and draws them beside the stored ones.
import { copy } from "../copy.ts";
import { fill, h } from "../dom.ts";
import type { Describe } from "../engine/protocol.ts";
import { commandLine } from "../export/command.ts";
import type { Figure } from "../page/figures.ts";
import { addSeries, type FigureSpec, removeSeries } from "../page/spec.ts";
import { cellChoice } from "./choice.ts";
import { curve, traceOf } from "./curves.ts";
import type { Again, Curves, RunData } from "./data.ts";
import type { Laboratory } from "./laboratory.ts";
import { type Press, sameAsStored, showNumbers } from "./numbers.ts";
import { type Given, settingsForm } from "./settings.ts";
import { disclosure, task } from "./task.ts";

const COUNTS = [1, 3, 5, 10];
const MOST_RUNS = 200;
const DERIVED = "The engine does not report what this figure shows; the table has the goodput of the same runs.";

/** Adds the disclosure to a figure. */
export function mountAgain(figure: Figure, data: RunData, laboratory: Laboratory): void {
  const { again } = figure.spec;
  if (!again) return;
  const make = async () => body(figure, again, data, laboratory, await laboratory.describe());
  figure.element.append(disclosure("Run this again with …", make));
}

function body(figure: Figure, again: Again, data: RunData, laboratory: Laboratory, describe: Describe): HTMLElement {
  const form = settingsForm(describe);
  const places = [...new Set(again.runs.map(({ cell }) => cell))];
  const choice = cellChoice(places, data.cells, () => void show());
  const most = Math.max(...places.map((cell) => data.cells[cell]!.runs.length - 1));
  const options = COUNTS.filter((count) => count <= most).map((count) =>
    h("option", { value: String(count) }, count === 1 ? "another run" : `${count} other runs`),
  );
  const counts = h("select", {}, h("option", { value: "0" }, "the stored run"), options);
  const record = again.kind === "values" ? [] : [traceOf(again)];
  const out = h("div", { class: "again-out" });
  let pressed = 0;

  /** The runs of a cell that the menu chooses: the stored one, or further ones. */
  function runsOf(cell: number): { cell: number; name: string; text: string }[] {
    const count = Number(counts.value);
    const runs = data.cells[cell]!.runs.slice(...(count ? [1, 1 + count] : [0, 1]));
    return runs.map(([name, text]) => ({ cell, name, text: data.texts[text]! }));
  }

  async function given(cell: number, text: string): Promise<Given> {
    const [rtt = null] = Object.values(data.cells[cell]!.stored).map((row) => row["path_rtt"] ?? null);
    return { ...(await laboratory.check(text)), rtt };
  }

  /** The text of a run with the settings of the form, and what they say. */
  async function written(cell: number, text: string): Promise<{ text: string; said: string }> {
    const { settings, said } = form.read(await given(cell, text));
    return { text: settings.length ? (await laboratory.check(text, settings)).frozen : text, said };
  }

  async function run(signal: AbortSignal, progress: (share: number) => void): Promise<string> {
    const chosen = choice.chosen();
    // A ratio also needs the cell by which it is divided.
    const shown = again.runs.filter(({ cell }) => chosen.includes(cell));
    const cells = [...new Set(shown.flatMap(({ cell, over = cell }) => [cell, over]))];
    const planned = cells.flatMap(runsOf);
    if (planned.length > MOST_RUNS) throw new Error(`These are ${planned.length} runs; choose at most ${MOST_RUNS}.`);
    const texts: { text: string; said: string }[] = [];
    for (const { cell, text } of planned) texts.push(await written(cell, text));
    const jobs = texts.map(({ text }) => text);
    const done = await laboratory.all(jobs, record, progress, signal);
    if (!done) return "";
    const results = new Map(cells.map((cell) => [cell, done.filter((_, at) => planned[at]!.cell === cell)]));
    const { said } = texts[0]!;
    pressed += 1;
    const press = { results, chosen, number: pressed, tag: `run ${pressed}${said && ` (${said})`}` };
    if (again.kind !== "values") drawCurves(figure.spec, again, press);
    out.prepend(...[showNumbers(figure.spec, again, press, data)].filter((table) => table !== undefined));
    figure.redraw();
    const same = said || counts.selectedIndex ? "" : sameAsStored(data, press);
    const derived = again.kind === "values" && again.metric === null ? DERIVED : "";
    return `${done.length === 1 ? "1 run" : `${done.length} runs`} done. ${same} ${derived}`.trim();
  }

  async function reset(): Promise<string> {
    removeSeries(figure.spec);
    figure.redraw();
    form.reset();
    fill(out);
    pressed = 0;
    return "";
  }

  async function copied(what: "scenario" | "command"): Promise<string> {
    const first = runsOf(choice.chosen()[0]!)[0]!;
    const { text } = await written(first.cell, first.text);
    const command = commandLine({ name: "scenario", text, record, out: "out/again" });
    const which = [choice.name(first.cell), first.name].filter(Boolean).join(", ");
    return copy(what === "command" ? command : text, `Copied the ${what} of ${which}.`, "The browser did not copy it.");
  }

  const buttons = task("Run", run, {
    Reset: reset,
    "Copy the scenario": () => copied("scenario"),
    "Copy the command": () => copied("command"),
  });

  const show = async () => {
    const cell = choice.chosen()[0]!;
    form.show(await given(cell, data.texts[data.cells[cell]!.runs[0]![1]]!));
  };
  void show();
  const runs = most > 0 && h("label", {}, h("span", {}, "Runs"), counts);
  return h("div", {}, h("div", { class: "again-fields" }, choice.fields, runs), form.element, buttons, out);
}

function drawCurves(spec: FigureSpec, again: Curves, { chosen, results, number, tag }: Press): void {
  for (const { cell, flow, panel, series, quantity = series } of again.runs) {
    if (!chosen.includes(cell)) continue;
    for (const { recording } of results.get(cell)!) {
      const { flows, links } = recording.scenario;
      const names = again.kind === "queue" ? links.map(({ name }) => name) : flows;
      const drawn = curve(recording, again, flow === null ? 0 : names.indexOf(flow), quantity);
      if (drawn) addSeries(spec, panel, series, { ...drawn, name: `${series}, ${tag}`, again: number });
    }
  }
}
