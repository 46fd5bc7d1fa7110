// The widget of `ackclock.widget`: the playground's sliders, menus and charts on one scenario of a notebook.
import { effect } from "@preact/signals";
import { type JSX, render as draw } from "preact";
import { Charts } from "../charts/charts.tsx";
import { surroundings } from "../charts/colours.ts";
import type { Chart } from "../charts/curves.ts";
import { reason } from "../engine/protocol.ts";
import { Fault } from "../playground/fault.tsx";
import { Kept } from "../playground/keptruns.tsx";
import { limited } from "../playground/knobs.ts";
import { type Lab, makeLab } from "../playground/lab.ts";
import { type MenuGroup, Menus } from "../playground/menus.tsx";
import { Numbers } from "../playground/numbers.tsx";
import { Sliders } from "../playground/sliders.tsx";
import { Toolbar } from "../playground/toolbar.tsx";
import { engines } from "./kernel.ts";
import type { Model } from "./model.ts";
import { sliders } from "./sliders.ts";
import { isDark, onTheme } from "./theme.ts";

/** The page's style for a shadow root, put here by the build. */
declare const WIDGET_STYLE: string;

const BUSY =
  "The kernel does not answer. The widget begins when no cell runs; in a saved notebook, run its cell again.";

/** Draws a view; anywidget calls it for each. Returns a function that removes it. */
async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = document.createElement("div");
  host.className = "ackclock-widget";
  const root = host.attachShadow({ mode: "open" });
  el.append(host);
  const show = (content: JSX.Element) =>
    draw(
      <>
        <style>{WIDGET_STYLE}</style>
        <div class="widget">{content}</div>
      </>,
      root,
    );
  const theme = () => {
    const next = isDark(host) ? "dark" : "light";
    if (host.dataset["theme"] === next) return;
    host.dataset["theme"] = next;
    surroundings.value = next === "dark";
  };
  const ends = [onTheme(host, theme)];
  show(<p class="soft">Waiting for the kernel …</p>);
  try {
    const makeEngine = await engines(model, () => show(<p class="soft">{BUSY}</p>));
    const made: ReturnType<typeof makeEngine>[] = [];
    const lab = await makeLab(
      () => {
        const engine = makeEngine();
        made.push(engine);
        return engine;
      },
      model.get("text"),
      model.get("_options").charts as Chart["id"][],
    );
    views += 1;
    show(<Widget lab={lab} model={model} sync={`ackclock-widget-${views}`} />);
    ends.push(connected(lab, model), () => {
      draw(null, root);
      lab.stop();
      for (const engine of made) engine.close();
    });
    host.dataset["engine"] = lab.engine.kind;
  } catch (error) {
    show(
      <p class="error" role="alert">
        {reason(error)}
      </p>,
    );
  }
  return () => {
    for (const end of ends) end();
  };
}

let views = 0;

/** Keeps the traits as the laboratory is, and the other way round. Returns a function that ends this. */
function connected(lab: Lab, model: Model): () => void {
  const set = <Name extends "text" | "finished">(name: Name, value: ReturnType<typeof model.get<Name>>) => {
    model.set(name, value);
    model.save_changes();
  };
  const onText = () => {
    if (model.get("text") !== lab.checked.peek()?.text) lab.setText(model.get("text"));
  };
  model.on("change:text", onText);
  const ends = [
    effect(() => {
      const text = lab.checked.value?.text;
      if (text !== undefined && text !== model.get("text")) set("text", text);
    }),
    effect(() => {
      const { summary, digest } = lab.current.value ?? {};
      if (summary) set("finished", { hash: summary.hash, trace_hash: digest! });
    }),
  ];
  return () => {
    model.off("change:text", onText);
    for (const end of ends) end();
  };
}

/** The widget; charts with the same key `sync` share their cursor. */
function Widget({ lab, model, sync }: { lab: Lab; model: Model; sync: string }): JSX.Element {
  const { sliders: wanted, menus: ids, height } = model.get("_options");
  const checked = lab.checked.value;
  const onEdit = lab.edit;
  const first = model.get("_first");
  return (
    <>
      <div>
        <section class="card sliders knobs" aria-label="Path">
          {checked && <Sliders knobs={sliders(wanted, checked.resolved, limited(lab.describe))} onEdit={onEdit} />}
        </section>
        <section class="card menus" aria-label="Flows and queue" hidden={ids.length === 0}>
          {checked && <Menus describe={lab.describe} wanted={groups(ids)} checked={checked} onEdit={onEdit} />}
        </section>
        <p class="soft engine">
          {lab.engine.kind === "wasm" ? "Runs in this browser." : "Runs in the kernel."}{" "}
          <button class="quiet" disabled={checked?.text === first} onClick={() => lab.setText(first)}>
            Reset
          </button>
        </p>
      </div>
      <div>
        <Toolbar lab={lab} />
        <Fault lab={lab} />
        <Charts view={lab.view} zoom={lab.zoom} sync={sync} height={height ?? undefined} />
        <Kept lab={lab} />
        <Numbers lab={lab} />
      </div>
    </>
  );
}

/** Menus by their headings. */
function groups(ids: string[]): MenuGroup[] {
  const [queue, flow] = [false, true].map((ofFlow) => ids.filter((id) => id.startsWith("flow.") === ofFlow));
  return [
    { title: "Queue", ids: queue! },
    { title: "Flow", ids: flow! },
  ].filter(({ ids }) => ids.length > 0);
}

export default { render };
