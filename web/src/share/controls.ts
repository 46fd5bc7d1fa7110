// The controls in the page's header: a link to what the page shows, and exports of the scenario, the charts and the traces.

import { copy } from "../copy.ts";
import { fill, h } from "../dom.ts";
import type { Engine } from "../engine/protocol.ts";
import { commandLine, fileName } from "../export/command.ts";
import { traceCsv } from "../export/csv.ts";
import { plots } from "../export/plots.ts";
import { download, png } from "../export/png.ts";
import { svg } from "../export/svg.ts";
import type { Lab } from "../playground/lab.ts";
import { viewOf } from "../playground/view.ts";
import { open, sharedOf } from "./link.ts";
import { decode, encode, type Unpacked } from "./share.ts";

/** Traces with one row for each packet or ACK can be large; the first of these that exists is offered first. */
const FIRST_TRACE = "cwnd";

/** Mounts the controls. `unpacked` is what the page's own link held. */
export function mountShare(place: HTMLElement, lab: Lab, makeEngine: () => Engine, unpacked: Unpacked): void {
  const status = h("span", { class: "soft", role: "status" });
  const alert = h("div", { class: "error", role: "alert", hidden: true });
  const say = (text: string) => {
    status.textContent = text;
  };
  const warn = (text: string) => {
    alert.textContent = text;
    alert.hidden = text === "";
  };
  const dialog = exportDialog(lab, makeEngine);
  fill(
    place,
    h("button", { on: { click: () => void copyLink(lab, say) } }, "Copy link"),
    h("button", { "aria-haspopup": "dialog", on: { click: () => dialog.show() } }, "Export"),
    status,
    alert,
  );
  document.body.append(dialog.element);
  const take = (answer: Unpacked) => {
    warn(answer && "problem" in answer ? answer.problem : "");
    if (answer && "state" in answer) open(lab, answer.state);
  };
  take(unpacked);
  // A link that the reader opens in the same tab. One that this page wrote itself changes nothing.
  addEventListener("hashchange", () => void decode(location.hash).then(take));
}

async function copyLink(lab: Lab, say: (text: string) => void): Promise<void> {
  try {
    const fragment = await encode(sharedOf(lab));
    history.replaceState(null, "", `#${fragment}`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return;
  }
  say(await copy(location.href, "Link copied.", "The link is in the address bar; copy it there."));
}

function exportDialog(lab: Lab, makeEngine: () => Engine): { element: HTMLDialogElement; show: () => void } {
  const status = h("p", { class: "soft", role: "status" });
  const traces = h("select", { id: "export-trace" });
  for (const name of Object.keys(lab.describe.traces)) traces.append(h("option", { value: name }, name));
  traces.value = FIRST_TRACE;
  const command = h("pre", { tabIndex: 0, "aria-label": "Command" });
  const scenario = () => lab.get().checked;
  const name = () => fileName(scenario()?.scenario.name ?? "scenario");
  const button = (label: string, work: () => string | undefined | Promise<string | undefined>) =>
    h("button", { on: { click: () => void perform(status, work) } }, label);
  const figure = () => {
    const view = viewOf(lab);
    const drawn = view ? plots(view) : [];
    if (drawn.length === 0) throw new Error("There are no curves to export yet: run the scenario first.");
    return svg(drawn, figureTitle(lab));
  };
  const csv = async () => {
    const trace = traces.value;
    const run = lab.get().current;
    if (!run) throw new Error("There is no run to export yet: run the scenario first.");
    status.textContent = `Repeating the run to record ${trace} …`;
    const engine = makeEngine();
    try {
      const pieces = await traceCsv(engine, { text: run.text, trace });
      if (!pieces || pieces.length < 2) return `The trace ${trace} of this run has no rows.`;
      download(`${name()}-${trace}.csv`, pieces, "text/csv;charset=utf-8");
      return undefined;
    } finally {
      engine.close();
    }
  };
  const frozen = () => {
    const checked = scenario();
    if (!checked || checked.text !== lab.get().text)
      throw new Error("The scenario has faults, so its defaults are unknown.");
    download(`${name()}-frozen.toml`, [checked.frozen]);
    return undefined;
  };
  const element = h(
    "dialog",
    { class: "export", "aria-label": "Export" },
    h("h2", {}, "Export"),
    group(
      "TOML",
      button("Scenario", () => void download(`${name()}.toml`, [lab.get().text])),
      button("Scenario with every default", frozen),
    ),
    group(
      "Charts",
      button("SVG", () => void download(`${name()}.svg`, [figure()], "image/svg+xml")),
      button("PNG", async () => void download(`${name()}.png`, [await png(figure())], "image/png")),
    ),
    group("Data", h("label", { for: "export-trace" }, "Trace"), traces, button("CSV", csv)),
    h("h3", {}, "Command line"),
    h("p", { class: "soft" }, "These commands write the scenario into a file and run it:"),
    command,
    h(
      "div",
      { class: "row" },
      button("Copy command", () =>
        copy(command.textContent ?? "", "Command copied.", "Select the command and copy it."),
      ),
      h("button", { class: "primary", on: { click: () => element.close() } }, "Close"),
    ),
    status,
  );
  const show = () => {
    status.textContent = "";
    command.textContent = commandLine({ name: scenario()?.scenario.name ?? "scenario", text: lab.get().text });
    element.showModal();
  };
  return { element, show };
}

function group(title: string, ...children: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { class: "row", role: "group", "aria-label": title },
    h("span", { class: "strong" }, title),
    children,
  );
}

/** Does the work of a button, and says how it ended. */
async function perform(
  status: HTMLElement,
  work: () => string | undefined | Promise<string | undefined>,
): Promise<void> {
  try {
    status.textContent = (await work()) ?? "Saved.";
  } catch (error) {
    status.textContent = error instanceof Error ? error.message : String(error);
  }
}

function figureTitle(lab: Lab): { title: string; subtitle: string } {
  const { current } = lab.get();
  const { name = "scenario", seed = 1 } = current?.recording.scenario ?? {};
  return { title: name, subtitle: `Ackclock ${lab.describe.version}, seed ${seed}` };
}
