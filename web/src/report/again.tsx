// "Run this again with …" below a figure: runs cells of it with other settings, and draws them beside the stored ones.
import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Labelled, type Option, Select } from "../controls.tsx";
import { copy } from "../copy.ts";
import { type Describe, reason } from "../engine/protocol.ts";
import { commandLine } from "../export/command.ts";
import type { Figure } from "../page/figures.tsx";
import { addSeries, type FigureSpec, removeSeries } from "../page/spec.ts";
import { ALL, type Cells, type Chosen, cellsOf, choose, menusOf } from "./choice.ts";
import { curve, traceOf } from "./curves.ts";
import type { Again, Curves, RunData } from "./data.ts";
import type { Laboratory } from "./laboratory.ts";
import { type Compared, type Press, sameAsStored, showNumbers } from "./numbers.ts";
import { type Given, SettingFields, settingsOf } from "./settings.tsx";
import { Task } from "./task.tsx";

const COUNTS = [1, 3, 5, 10];
const MOST_RUNS = 200;
const DERIVED = "The engine does not report what this figure shows; the table has the goodput of the same runs.";

/** Adds the disclosure to a figure. */
export function mountAgain(figure: Figure, data: RunData, laboratory: Laboratory): void {
  const { again } = figure.spec;
  if (!again) return;
  const place = figure.element.appendChild(document.createElement("div"));
  render(<Disclosure {...{ figure, again, data, laboratory }} />, place);
}

type Properties = { figure: Figure; again: Again; data: RunData; laboratory: Laboratory };

/** Its form is made when it is opened for the first time. */
function Disclosure({ figure, again, data, laboratory }: Properties): JSX.Element {
  const cells: Cells = new Map(again.runs.map(({ cell }) => [cell, data.cells[cell]!]));
  const menus = menusOf(cells);
  const [describe, setDescribe] = useState<Describe>();
  const [fault, setFault] = useState("");
  const [chosen, setChosen] = useState<Chosen>(() =>
    Object.fromEntries(menus.map(([label, [first]]) => [label, first!])),
  );
  /** Further runs instead of the stored one. */
  const [count, setCount] = useState(0);
  const [given, setGiven] = useState<Given>();
  const [tables, setTables] = useState<Compared[]>([]);
  const form = useRef<HTMLFormElement>(null);
  const pressed = useRef(0);
  const record = again.kind === "values" ? [] : [traceOf(again)];
  const places = cellsOf(cells, chosen);
  const first = places[0]!;
  const open = () => laboratory.describe().then(setDescribe, (error) => setFault(reason(error)));
  useEffect(() => {
    if (describe) void givenOf(first, data.texts[cells.get(first)!.runs[0]![1]]!).then(setGiven);
  }, [describe, first]);

  async function givenOf(cell: number, text: string): Promise<Given> {
    const [rtt = null] = Object.values(cells.get(cell)!.stored).map((row) => row["path_rtt"] ?? null);
    return { ...(await laboratory.check(text)), rtt };
  }

  /** The runs of a cell that the menu chooses: the stored one, or further ones. */
  function runsOf(cell: number): { cell: number; name: string; text: string }[] {
    const runs = data.cells[cell]!.runs.slice(...(count ? [1, 1 + count] : [0, 1]));
    return runs.map(([name, text]) => ({ cell, name, text: data.texts[text]! }));
  }

  /** The text of a run with the settings of the form, and what they say. */
  async function written(cell: number, text: string): Promise<{ text: string; said: string }> {
    const { settings, said } = settingsOf(new FormData(form.current!), await givenOf(cell, text));
    return { text: settings.length ? (await laboratory.check(text, settings)).frozen : text, said };
  }

  async function run(signal: AbortSignal, progress: (share: number) => void): Promise<string> {
    // A ratio also needs the cell by which it is divided.
    const shown = again.runs.filter(({ cell }) => places.includes(cell));
    const wanted = [...new Set(shown.flatMap(({ cell, over = cell }) => [cell, over]))];
    const planned = wanted.flatMap(runsOf);
    if (planned.length > MOST_RUNS) throw new Error(`These are ${planned.length} runs; choose at most ${MOST_RUNS}.`);
    const texts: Awaited<ReturnType<typeof written>>[] = [];
    for (const { cell, text } of planned) texts.push(await written(cell, text));
    const jobs = texts.map(({ text }) => text);
    const done = await laboratory.all(jobs, record, progress, signal);
    if (!done) return "";
    const results = new Map(wanted.map((cell) => [cell, done.filter((_, at) => planned[at]!.cell === cell)]));
    const { said } = texts[0]!;
    const number = ++pressed.current;
    const press = { results, chosen: places, number, tag: `run ${number}${said && ` (${said})`}` };
    if (again.kind !== "values") drawCurves(figure.spec, again, press);
    const table = showNumbers(figure.spec, again, press, data);
    if (table) setTables((before) => [table, ...before]);
    figure.redraw();
    const same = said || count ? "" : sameAsStored(data, press);
    const derived = again.kind === "values" && again.metric === null ? DERIVED : "";
    return `${done.length === 1 ? "1 run" : `${done.length} runs`} done. ${same} ${derived}`.trim();
  }

  async function reset(): Promise<string> {
    removeSeries(figure.spec);
    figure.redraw();
    form.current!.reset();
    setTables([]);
    pressed.current = 0;
    return "";
  }

  async function copied(what: "scenario" | "command"): Promise<string> {
    const { cell, name, text: stored } = runsOf(first)[0]!;
    const { text } = await written(cell, stored);
    const command = commandLine({ name: "scenario", text, record, out: "out/again" });
    const which = [...menus.map(([label]) => `${label} ${cells.get(cell)!.labels[label]}`), name]
      .filter(Boolean)
      .join(", ");
    return copy(what === "command" ? command : text, `Copied the ${what} of ${which}.`, "The browser did not copy it.");
  }

  const counts = COUNTS.filter((each) => [...cells.values()].some(({ runs }) => each < runs.length));
  const others = counts.map((each): Option => [each, each === 1 ? "another run" : `${each} other runs`]);
  const choices = menus.map(([label, values]) => {
    const pick = (value: string) => setChosen(choose(cells, chosen, label, value));
    const menu = <Select value={chosen[label]!} options={[...values, [ALL, "all"]]} onPick={pick} />;
    return <Labelled label={label} children={menu} />;
  });
  const runs = (
    <Select value={count} options={[[0, "the stored run"], ...others]} onPick={(picked) => setCount(+picked)} />
  );
  const copies = { "Copy the scenario": () => copied("scenario"), "Copy the command": () => copied("command") };
  const body = describe && (
    <div>
      <div class="again-fields">
        {choices}
        {counts.length > 0 && <Labelled label="Runs" children={runs} />}
      </div>
      <form class="again-fields" ref={form}>
        <SettingFields {...{ describe, given }} />
      </form>
      <Task label="Run" work={run} further={{ Reset: reset, ...copies }} />
      <div class="again-out">{tables.map(Numbers)}</div>
    </div>
  );
  return (
    <details class="small again" onToggle={() => void (describe ?? open())}>
      <summary>Run this again with …</summary>
      <div class="again-body">{body ?? (fault && <p class="note">{fault}</p>)}</div>
    </details>
  );
}

function Numbers({ title, heads, rows }: Compared): JSX.Element {
  const head = heads.map((text) => <th scope="col">{text}</th>);
  const cell = (text: string, at: number) => <td class={at === 2 ? "soft" : ""}>{text}</td>;
  const body = rows.map((row) => <tr>{row.map(cell)}</tr>);
  return (
    <div class="again-result">
      <p>{title}</p>
      <div class="scroll">
        <table class="again-table">
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>{body}</tbody>
        </table>
      </div>
    </div>
  );
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
