// Above the charts: run and stop, the times shown, and which charts, flows and link are shown.
import type { JSX } from "preact";
import { colour } from "../charts/colours.ts";
import { CHARTS, offered, onlyRun } from "../charts/curves.ts";
import { shown } from "../charts/panel.ts";
import { Field, type Option, Select, Toggle, Toggles } from "../controls.tsx";
import { FLOWS_SHOWN, type Lab } from "./lab.ts";

/** Flows that have a button of their own; of more, the reader names one. */
const MOST_BUTTONS = 12;

/** Flows that a chart draws at once, as many as there are colours. */
const MOST_FLOWS = 9;

/** The bar. */
export function Toolbar({ lab }: { lab: Lab }): JSX.Element {
  const { running, current, kept, progress, status } = lab;
  return (
    <section class="toolbar" aria-label="Run and view">
      <div class="bar">
        <button class="primary" onClick={() => (running.value ? lab.stop() : lab.run())}>
          {running.value ? "Stop" : "Run"}
        </button>
        <button
          title="Leave this run's curves in the charts, and compare the next runs with it"
          disabled={!current.value?.summary || kept.value.includes(current.value)}
          onClick={() => lab.keep()}
        >
          Keep this run
        </button>
        <span class="soft status">{status}</span>
        <progress class={running.value ? "" : "idle"} max={1} value={progress.value} aria-label="Progress of the run" />
        <Times lab={lab} />
      </div>
      <div class="choices">
        <Choices lab={lab} />
      </div>
    </section>
  );
}

/** Which charts, flows, run and link are shown. */
function Choices({ lab }: { lab: Lab }): JSX.Element {
  const { visible, labels } = lab;
  const choice = lab.choice.value;
  const { flows = [], links = [] } = lab.current.value?.recording.scenario ?? {};
  const names = links.map(({ name }) => name);
  const firsts = flows.slice(0, FLOWS_SHOWN);
  const only = onlyRun(choice, labels.value);
  const pick = (name: string) => {
    const { flows: chosen } = choice;
    // In the order of the scenario, so that a flow keeps its colour when others come back.
    const next = flows.filter((flow) => chosen.includes(flow) !== (flow === name)).slice(0, MOST_FLOWS);
    if (next.length > 0) lab.pick({ flows: next });
  };
  const charts = offered(lab.view.value?.runs ?? [], choice);
  const turn = (id: (typeof CHARTS)[number]["id"]) => {
    const next = CHARTS.map((chart) => chart.id).filter((other) => visible.value.includes(other) !== (other === id));
    if (next.length > 0) visible.value = next;
  };
  return (
    <>
      <Toggles label="Charts shown">
        {charts.map(({ id, short }) => (
          <Toggle key={id} pressed={visible.value.includes(id)} onClick={() => turn(id)}>
            {short}
          </Toggle>
        ))}
      </Toggles>
      {flows.length > 1 && flows.length <= MOST_BUTTONS && (
        <Toggles label="Flows shown">
          {flows.map((name) => {
            const place = choice.flows.indexOf(name);
            return (
              <Toggle pressed={place >= 0} onClick={() => pick(name)}>
                {place >= 0 && choice.flows.length > 1 && <span class="swatch" style={{ background: colour(place) }} />}
                {name}
              </Toggle>
            );
          })}
        </Toggles>
      )}
      {flows.length > MOST_BUTTONS && (
        <Choice
          label="Flow"
          names={[`The first ${firsts.length}`, ...flows]}
          chosen={choice.flows.length === 1 ? flows.indexOf(choice.flows[0]!) + 1 : 0}
          pick={(index) => lab.pick({ flows: index === 0 ? firsts : [flows[index - 1]!] })}
        />
      )}
      {only !== undefined && (
        <Choice label="Run shown" names={labels.value} chosen={only} pick={(run) => lab.pick({ run })} />
      )}
      {names.length > 1 && (
        <Choice
          label="Queue at"
          names={names}
          chosen={names.indexOf(choice.link)}
          pick={(index) => lab.pick({ link: names[index]! })}
        />
      )}
    </>
  );
}

type ChoiceProperties = { label: string; names: string[]; chosen: number; pick: (index: number) => void };

function Choice({ label, names, chosen, pick }: ChoiceProperties): JSX.Element {
  const options = names.map((name, index): Option => [index, name]);
  return (
    <label class="choice">
      {label}
      <Select value={chosen} options={options} onPick={(index) => pick(Number(index))} />
    </label>
  );
}

/** Two fields with the times that the charts show, and a button that shows all. */
function Times({ lab: { current, zoom } }: { lab: Lab }): JSX.Element {
  const duration = current.value?.recording.scenario.duration ?? 0;
  const [low, high] = zoom.value ?? [0, duration];
  const read = (text: string) => Number(text.replace(",", "."));
  const show = (from: number, to: number) => {
    const fits = from >= 0 && to > from && from < duration;
    zoom.value = fits && (from > 0 || to < duration) ? [from, Math.min(to, duration)] : undefined;
  };
  const common = { class: "time", inputMode: "decimal" } as const;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset lays its fields out in its own way
    <div class="times" role="group" aria-label="Times shown">
      <Field {...common} label="Charts from, seconds" value={shown(low)} onCommit={(text) => show(read(text), high)} />
      –
      <Field {...common} label="Charts to, seconds" value={shown(high)} onCommit={(text) => show(low, read(text))} />s
      <button
        class="quiet"
        hidden={!zoom.value}
        onClick={() => {
          zoom.value = undefined;
        }}
      >
        Whole run
      </button>
    </div>
  );
}
