// Lists of models of a link, in the menus and the sliders.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { record } from "../charts/recording.ts";
import type { Edit } from "../engine/protocol.ts";
import { nativeEngine } from "../scenario/native.ts";
import { choose, type Menu, options, setParameter, stateOf } from "../scenario/options.ts";
import { read } from "../scenario/toml.ts";
import { knobs, limited } from "./knobs.ts";
import { addModel, eachOf } from "./models.ts";

const engine = nativeEngine();
after(() => engine.close());
const describe = (await engine.ask({ do: "describe" })).header;
const delays = options(describe).find(({ id }) => id === "topology.bottleneck.delay")!;

const scenario = (delay: string): string => `duration = "5 s"\n[topology.bottleneck]\ndelay = ${delay}\n[flow]\n`;
const LIST = '["10 ms", { kind = "jitter", delay = "5 ms", jitter = "2 ms" }]';

/** The delay in the text after the edits, which the engine accepts. */
async function edited(text: string, set: Edit[]): Promise<unknown> {
  const { header } = await engine.ask({ do: "edit", text, set });
  await engine.ask({ do: "check", text: header.text });
  const { topology } = read(header.text).values as { topology: { bottleneck: { delay: unknown } } };
  return JSON.parse(JSON.stringify(topology.bottleneck.delay));
}

/** The rows of menus of a text. */
function rows(text: string, menu: Menu = delays) {
  const { values } = read(text);
  return eachOf(menu, values, 0).map(([each, index, count]) => {
    const state = stateOf(each, describe, { values, frozen: null }, index)!;
    return { each, index, count, state, values };
  });
}

test("each delay of a list has a menu with its parameters", () => {
  const found = rows(scenario(LIST)).map(({ state: { option, parameters }, count }) => [
    count,
    option?.name,
    parameters.flatMap(({ parameter, value, written }) => (written ? [[parameter.name, value]] : [])),
  ]);
  const own = [
    ["delay", "5 ms"],
    ["jitter", "2 ms"],
  ];
  assert.deepEqual(found, [
    [2, "constant", [["delay", "10 ms"]]],
    [2, "jitter", own],
  ]);
  assert.deepEqual(
    rows(scenario('"10 ms"')).map(({ count, state }) => [count, state.option?.name]),
    [[0, "constant"]],
  );
});

test("a menu of a list changes its own delay", async () => {
  const text = scenario(LIST);
  const [first, second] = rows(text);
  const jitter = { kind: "jitter", delay: "5 ms", jitter: "2 ms" };
  assert.deepEqual(await edited(text, choose(first!.each, "suspension", describe, first!.values, 0)), [
    "suspension",
    jitter,
  ]);
  assert.deepEqual(
    await edited(text, setParameter(second!.each, second!.state, "jitter", "4 ms", describe, second!.values)),
    ["10 ms", { ...jitter, jitter: "4 ms" }],
  );
});

test("a model can be added to one value and to a list, of every kind that can be a list", async () => {
  const add = (text: string) => {
    const [{ each, state, values }] = rows(text) as [ReturnType<typeof rows>[0]];
    return edited(text, addModel(each, state, values, describe));
  };
  assert.deepEqual(await add(scenario('"10 ms"')), ["10 ms", "constant"]);
  assert.deepEqual(await add(scenario(LIST)), ["10 ms", { kind: "jitter", delay: "5 ms", jitter: "2 ms" }, "constant"]);
  const listed = options(describe).filter(({ id, listed }) => listed && /^topology\.bottleneck\.\w+$/.test(id));
  assert.deepEqual(
    listed.map(({ id }) => id.split(".").at(-1)),
    ["delay", "loss"],
  );
});

test("a slider says that it cannot move a list", () => {
  const { values } = read(scenario(LIST));
  const rtt = knobs(values, limited(describe)).find(({ id }) => id === "rtt")!;
  assert.match(rtt.disabled!, /list of delay models/);
});

test("every part of a link's rate, delay and losses can be chosen, and has a field for each parameter", () => {
  for (const axis of ["rate", "delay", "loss"]) {
    const menu = options(describe).find(({ id }) => id === `topology.bottleneck.${axis}`)!;
    for (const part of describe.parts[axis]!) {
      const option = menu.options.find(({ name }) => name === part.name);
      const fields = option?.parameters.map(({ name }) => name) ?? [];
      for (const { name } of part.params) assert.ok(fields.includes(name), `${axis} ${part.name} ${name}`);
    }
  }
});

test("the path that the page draws is that of the scenario", async () => {
  const made = await record(engine, scenario(LIST), { record: [] });
  const { scenario: info, recording } = made!;
  const there = info.links.findIndex(({ name }) => name === info.bottleneck);
  const [least, largest] = (["path least", "path largest"] as const).map((each) => recording.series(each, there)!);
  // 10 ms, and 5 ± 2 ms.
  assert.equal(least!.length, 300);
  assert.ok(least!.extremes(0, 300)![0] >= 0.013 && largest!.extremes(0, 300)![1] <= 0.0171);
  assert.ok(largest!.extremes(0, 300)![1] - least!.extremes(0, 300)![0] > 0.003);
  assert.equal(recording.series("path rate", there), undefined);
  const constant = await record(engine, scenario('"10 ms"'), { record: [] });
  assert.equal(constant!.recording.series("path delay", there), undefined);
});
