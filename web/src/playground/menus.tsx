// The menus: hosts and algorithms of a flow, and the queue. Their options come from the engine's registry.
import { Fragment, type JSX } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import type { CheckAnswer, Describe, Edit } from "../engine/protocol.ts";
import {
  choose,
  type Menu,
  type MenuState,
  options,
  type Parameter,
  setParameter,
  stateOf,
} from "../scenario/options.ts";
import { decode, flowsOf, parametersIn } from "../scenario/state.ts";
import { dotted, isTable, read, type Table, type Value } from "../scenario/toml.ts";
import { addModel, eachOf } from "./models.ts";
import { Field, Labelled, type Option, Select, Toggle, Toggles } from "../controls.tsx";

/** Menus under a heading, by the ids that `options` gives. */
export interface MenuGroup {
  title: string;
  ids: string[];
}

/** Keys with a menu in the playground. All others are in the text, where the editor completes them. */
export const PLAYGROUND: MenuGroup[] = [
  { title: "Queue", ids: ["topology.bottleneck.queue"] },
  { title: "Path", ids: ["rate", "delay", "loss"].map((key) => `topology.bottleneck.${key}`) },
  {
    title: "Flow",
    ids: [
      "host",
      "congestion_control",
      "initial_window",
      "slow_start",
      "avoidance",
      "loss_response",
      "recovery",
      "ecn",
    ].map((key) => `flow.${key}`),
  },
];

/** Flows that have a button of their own; more are in a list. */
const MOST_BUTTONS = 12;

/** Titles that the key's name does not give. */
const TITLES: { [id: string]: string } = { "flow.ecn": "ECN", "topology.bottleneck.queue": "Discipline" };

/** What the menus read: the document, and the TOML with every default, both from `check`. */
export type Checked = Pick<CheckAnswer, "values" | "frozen">;

interface MenusProperties {
  describe: Describe;
  wanted: MenuGroup[];
  checked: Checked;
  /** Gets the edits of the scenario that a choice means. */
  onEdit: (edits: Edit[]) => void;
  /** Adds a flow; with it, flows can be added and removed. */
  onAdd?: () => void;
}

const ofFlows = (menu: Menu): boolean => menu.path[0] === "flow";

/** The menus. */
export function Menus({ describe, wanted, checked: { values, frozen }, onEdit, onAdd }: MenusProperties): JSX.Element {
  const groups = useMemo(() => {
    const all = options(describe);
    const menuOf = (id: string) => all.find((known) => known.id === id) ?? [];
    return wanted.map(({ title, ids }) => ({ title, menus: ids.flatMap(menuOf) }));
  }, [describe, wanted]);
  const [turned, turn] = useState(0);
  const flows = flowsOf(values);
  const chosen = Math.max(0, Math.min(turned, flows.length - 1));
  const reading = { values, frozen: read(frozen).values };
  return (
    <>
      {groups.map(({ title, menus }) => {
        const rows = menus.flatMap((menu) =>
          eachOf(menu, values, ofFlows(menu) ? chosen : 0).map(([each, index, count]) => {
            const state = stateOf(each, describe, reading, index);
            const key = `${menu.id} ${count > 0 ? index : ""}`;
            return state && <MenuRow key={key} {...{ menu: each, state, values, index, count, describe, onEdit }} />;
          }),
        );
        return (
          <Fragment key={title}>
            <h2 hidden={rows.every((row) => row === null)}>{title}</h2>
            {menus.some(ofFlows) && <Flows {...{ flows, chosen, turn, onEdit, onAdd }} />}
            {rows}
          </Fragment>
        );
      })}
    </>
  );
}

interface FlowsProperties extends Pick<MenusProperties, "onEdit"> {
  flows: Value[];
  chosen: number;
  turn: (index: number) => void;
  onAdd: MenusProperties["onAdd"] | undefined;
}

/** The flows, of which the menus change one. */
function Flows({ flows, chosen, turn, onEdit, onAdd }: FlowsProperties): JSX.Element {
  const names = flows.map(nameOf);
  const flow = flows[chosen];
  const count = isTable(flow) ? flow["count"] : undefined;
  return (
    <>
      <Toggles label="Flow that the menus change" hidden={flows.length < 2 && !onAdd}>
        {names.length > MOST_BUTTONS ? (
          <Select
            label="Flow"
            value={chosen}
            options={names.map((name, index): Option => [index, name])}
            onPick={(index) => turn(Number(index))}
          />
        ) : (
          names.map((name, index) => (
            <Toggle pressed={index === chosen} onClick={() => turn(index)}>
              {name}
            </Toggle>
          ))
        )}
        {onAdd && (
          <button class="toggle" title="Add a flow" aria-label="Add a flow" onClick={onAdd}>
            +
          </button>
        )}
        {onAdd && flows.length > 1 && (
          <button
            class="toggle"
            title="Remove this flow"
            aria-label={`Remove ${names[chosen]}`}
            onClick={() => onEdit([[`flow.${chosen}`, null]])}
          >
            −
          </button>
        )}
      </Toggles>
      <p class="soft small" hidden={!count}>
        {count ? `${count} equal flows` : ""}
      </p>
    </>
  );
}

function nameOf(flow: Value, index: number): string {
  return isTable(flow) && typeof flow["name"] === "string" ? flow["name"] : `flow${index}`;
}

interface MenuProperties {
  menu: Menu;
  state: MenuState;
  values: Table;
  index: number;
  /** Length of the list that the value is in; 0 for none. */
  count: number;
  describe: Describe;
  onEdit: (edits: Edit[]) => void;
}

function MenuRow({ menu, state, values, index, count, describe, onEdit }: MenuProperties): JSX.Element {
  const [opened, setOpened] = useState(false);
  const id = useId();
  const { option, unused, parameters } = state;
  const bare = TITLES[menu.id] ?? menu.title;
  const name = count > 0 ? `${bare} ${index + 1}` : bare;
  const settings = option !== null && option.parameters.length > 0;
  const none = unused !== null || !option || (!settings && option.summary === "");
  const title = settings ? `Settings of ${option.title}` : `About ${option?.title ?? name}`;
  // Without the key there is nothing to choose back to, unless the menu has no default.
  const unset = option === null || menu.default === undefined;
  return (
    <div class="menu">
      <label>
        <span>{name}</span>
        <Select
          value={option?.name ?? ""}
          disabled={unused !== null}
          title={option?.summary ?? menu.summary}
          options={[
            ...(unset ? [["", option || !state.written ? "Not set" : "As in the text"] as Option] : []),
            ...optionsOf(menu),
          ]}
          onPick={(name) => onEdit(choose(menu, name || null, describe, values, index))}
        />
      </label>
      <button
        class={settings ? "more settings" : "more"}
        aria-controls={id}
        aria-expanded={opened && !none}
        disabled={none}
        title={title}
        aria-label={title}
        onClick={() => setOpened(!opened)}
      >
        ⋯
      </button>
      <p class="reason">{unused ? `Without effect: ${unused}.` : ""}</p>
      <div class="details" id={id} hidden={!opened || none}>
        <p class="soft small">{option && [sentence(option.summary), option.reference].filter(Boolean).join(" ")}</p>
        <div class="parameters">
          {parameters.map((each) => (
            <ParameterRow
              key={`${index} ${option?.name} ${each.parameter.name}`}
              {...each}
              describe={describe}
              set={(value) => onEdit(setParameter(menu, state, each.parameter.name, value, describe, values))}
            />
          ))}
        </div>
        {menu.listed && (
          <div class="bar">
            <button onClick={() => onEdit(addModel(menu, state, values, describe))}>
              Add a {bare.toLowerCase()} model
            </button>
            {count > 1 && (
              <button onClick={() => onEdit([[dotted(state.path), null]])}>Remove {name.toLowerCase()}</button>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

const optionsOf = (menu: Menu): Option[] => menu.options.map(({ name, title, summary }) => [name, title, summary]);

function sentence(text: string): string {
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, ".");
}

interface ParameterProperties {
  parameter: Parameter;
  value: unknown;
  written: boolean;
  set: (value: unknown) => void;
  describe: Describe;
}

/** The menu of a part inside a part, with the fields of its own parameters. */
function PartRows({ menu, parameter, value, set, describe }: ParameterProperties & { menu: Menu }): JSX.Element {
  const { option, given } = decode(menu, value, describe);
  return (
    <div class="inside">
      <Labelled class="parameter" title={sentence(parameter.doc)} label={menu.title}>
        <Select value={option?.name ?? ""} options={optionsOf(menu)} onPick={set} />
      </Labelled>
      {parametersIn(option, given).map((each) => {
        const { [each.parameter.name]: _, ...rest } = given;
        const setInside = (next: unknown) =>
          set({ kind: option?.name, ...rest, ...(next === null ? {} : { [each.parameter.name]: next }) });
        const key = `${option?.name} ${each.parameter.name}`;
        return <ParameterRow key={key} {...each} describe={describe} set={setInside} />;
      })}
    </div>
  );
}

/** A field for a parameter; an empty text returns to the default. */
function ParameterRow(properties: ParameterProperties): JSX.Element {
  const { parameter, value } = properties;
  const menu = parameter.inside?.();
  if (menu) return <PartRows {...properties} menu={menu} />;
  const usual = parameter.default === undefined ? "" : ` Default: ${parameter.default}.`;
  return (
    <Labelled
      class="parameter"
      title={`${sentence(parameter.doc)}${usual}`}
      label={parameter.name.replaceAll("_", " ")}
    >
      {parameter.kind === "flag" ? (
        <input
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => properties.set(currentTarget.checked)}
        />
      ) : parameter.kind === "word" ? (
        <Words {...properties} />
      ) : (
        <Quantity {...properties} />
      )}
    </Labelled>
  );
}

function Words({ parameter: { words }, value, set }: ParameterProperties): JSX.Element {
  const options = words.map((word): Option => [word, String(word).replaceAll("_", " ")]);
  const pick = (picked: string) => set(words.find((word) => String(word) === picked));
  return <Select value={String(value)} options={options} onPick={pick} />;
}

function Quantity({ parameter, value, written, set }: ParameterProperties): JSX.Element {
  const { kind, unit } = parameter;
  const commit = (text: string) => {
    const bare = Number(text);
    if (text === "") set(null);
    else if (kind === "number" || kind === "integer") set(Number.isFinite(bare) ? bare : text);
    else if (kind === "list") set(read(`value = ${text}`).values["value"] ?? text);
    else if (kind === "quantity" && Number.isFinite(bare) && unit) set(`${text} ${unit}`);
    else set(text);
  };
  return (
    <Field
      value={value === undefined ? "" : kind === "list" ? JSON.stringify(value) : String(value)}
      placeholder={parameter.default === undefined ? "" : String(parameter.default)}
      class={written ? "quantity" : "quantity soft"}
      onCommit={commit}
    />
  );
}
