// The controls in the page's header: a link to what the page shows, and exports of the scenario, the charts and the traces.
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { copy } from "../copy.ts";
import { Select } from "../controls.tsx";
import { type Engine, reason } from "../engine/protocol.ts";
import { commandLine, fileName } from "../export/command.ts";
import { traceCsv } from "../export/csv.ts";
import { plots } from "../export/plots.ts";
import { download, png } from "../export/png.ts";
import { svg } from "../export/svg.ts";
import type { Lab } from "../playground/lab.ts";
import { open, sharedOf } from "./link.ts";
import { decode, encode, type Unpacked } from "./share.ts";

/** Traces with one row for each packet or ACK can be large; this one is offered first. */
const FIRST_TRACE = "cwnd";

interface ShareProperties {
  lab: Lab;
  makeEngine: () => Engine;
  /** What the page's own link held. */
  unpacked: Unpacked;
}

/** The controls. */
export function Share({ lab, makeEngine, unpacked }: ShareProperties): JSX.Element {
  const [status, say] = useState("");
  const [fault, warn] = useState("");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const take = (answer: Unpacked) => {
      warn(answer && "problem" in answer ? answer.problem : "");
      if (answer && "state" in answer) open(lab, answer.state);
    };
    take(unpacked);
    // A link that the reader opens in the same tab. One that this page wrote itself changes nothing.
    const follow = () => void decode(location.hash).then(take);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [lab, unpacked]);
  const copyLink = async () => {
    try {
      history.replaceState(null, "", `#${await encode(sharedOf(lab))}`);
      say(await copy(location.href, "Link copied.", "The link is in the address bar; copy it there."));
    } catch (error) {
      say(reason(error));
    }
  };
  return (
    <div class="share">
      <button onClick={() => void copyLink()}>Copy link</button>
      <button aria-haspopup="dialog" onClick={() => dialog.current!.showModal()}>
        Export
      </button>
      <span class="soft" role="status">
        {status}
      </span>
      <div class="error" role="alert" hidden={fault === ""}>
        {fault}
      </div>
      <Export {...{ lab, makeEngine, dialog }} />
    </div>
  );
}

interface ExportProperties extends Omit<ShareProperties, "unpacked"> {
  dialog: RefObject<HTMLDialogElement | null>;
}

function Export({ lab, makeEngine, dialog }: ExportProperties): JSX.Element {
  const [status, say] = useState("");
  const [trace, setTrace] = useState(FIRST_TRACE);
  const scenario = lab.checked.value;
  const title = scenario?.scenario.name ?? "scenario";
  const name = fileName(title);
  const text = lab.text.value;
  const command = commandLine({ name: title, text });
  /** A button that does some work, and says how it ended. */
  const button = (label: string, work: () => unknown) => {
    const perform = async () => {
      try {
        const said = await work();
        say(typeof said === "string" ? said : "Saved.");
      } catch (error) {
        say(reason(error));
      }
    };
    return <button onClick={() => void perform()}>{label}</button>;
  };
  const figure = () => {
    const view = lab.view.value;
    const drawn = view ? plots(view) : [];
    if (!view || drawn.length === 0) throw new Error("There are no curves to export yet: run the scenario first.");
    const { name, seed } = view.runs[0]!.recording.scenario;
    return svg(drawn, { title: name, subtitle: `Ackclock ${lab.describe.version}, seed ${seed}` });
  };
  const csv = async () => {
    const run = lab.current.value;
    if (!run) throw new Error("There is no run to export yet: run the scenario first.");
    say(`Repeating the run to record ${trace} …`);
    const engine = makeEngine();
    try {
      const pieces = await traceCsv(engine, { text: run.text, trace });
      if (!pieces || pieces.length < 2) return `The trace ${trace} of this run has no rows.`;
      return download(`${name}-${trace}.csv`, pieces, "text/csv;charset=utf-8");
    } finally {
      engine.close();
    }
  };
  const frozen = () => {
    if (scenario?.text !== text) throw new Error("The scenario has faults, so its defaults are unknown.");
    download(`${name}-frozen.toml`, [scenario.frozen]);
  };
  return (
    <dialog class="export" aria-label="Export" ref={dialog} onClose={() => say("")}>
      <h2>Export</h2>
      <Row title="TOML">
        {button("Scenario", () => download(`${name}.toml`, [text]))}
        {button("Scenario with every default", frozen)}
      </Row>
      <Row title="Charts">
        {button("SVG", () => download(`${name}.svg`, [figure()], "image/svg+xml"))}
        {button("PNG", async () => download(`${name}.png`, [await png(figure())], "image/png"))}
      </Row>
      <Row title="Data">
        <label for="export-trace">Trace</label>
        <Select id="export-trace" value={trace} options={Object.keys(lab.describe.traces)} onPick={setTrace} />
        {button("CSV", csv)}
      </Row>
      <h3>Command line</h3>
      <p class="soft">These commands write the scenario into a file and run it:</p>
      <section aria-label="Command">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that is too long can be scrolled by the keyboard */}
        <pre tabIndex={0}>{command}</pre>
      </section>
      <div class="row">
        {button("Copy command", () => copy(command, "Command copied.", "Select the command and copy it."))}
        <button class="primary" onClick={() => dialog.current!.close()}>
          Close
        </button>
      </div>
      <p class="soft" role="status">
        {status}
      </p>
    </dialog>
  );
}

function Row({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset lays its buttons out in its own way
    <div class="row" role="group" aria-label={title}>
      <span class="strong">{title}</span>
      {children}
    </div>
  );
}
