import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Problem, Refused } from "../engine/protocol.ts";
import type { Describe } from "./describe.ts";
import { scenarioFiles } from "./examples.ts";
import { nativeEngine } from "./native.ts";
import { choose, type Edit, options, setParameter, stateOf } from "./options.ts";
import { decode, parametersIn } from "./state.ts";
import { dotted, read, type Table } from "./toml.ts";

const engine = nativeEngine();
after(() => engine.close());
const describe = (await engine.ask({ do: "describe" })).header as unknown as Describe;
const menus = options(describe);
const menu = (id: string) => {
  const found = menus.find((known) => known.id === id);
  assert.ok(found, id);
  return found;
};

const edited = async (text: string, set: Edit[]): Promise<string> =>
  (await engine.ask({ do: "edit", text, set })).header.text;

/** The problems of a scenario; `null` for a sound one. */
async function problems(text: string): Promise<Problem[] | null> {
  try {
    await engine.ask({ do: "check", text });
    return null;
  } catch (error) {
    assert.ok(error instanceof Refused);
    return error.problems;
  }
}

const frozen = async (text: string): Promise<Table> =>
  read((await engine.ask({ do: "check", text })).header.frozen).values;
const ONE = 'duration = "5 s"\n';

test("menus are the schema's keys with few values, and options the registry's parts", () => {
  const ids = menus.map(({ id }) => id);
  for (const id of [
    "topology",
    "topology.bottleneck.queue",
    "flow.host",
    "flow.initial_window",
    "flow.slow_start",
    "flow.ecn",
  ]) {
    assert.ok(ids.includes(id), id);
  }
  for (const axis of Object.keys(describe.relations.axes)) {
    const none = describe.relations.axes[axis]?.none;
    const names = (describe.parts[axis] ?? []).map((part) => part.name);
    for (const known of menus.filter((known) => known.axis === axis)) {
      assert.deepEqual(
        known.options.map((option) => option.name),
        none ? [none, ...names] : names,
      );
    }
  }
  assert.deepEqual(
    menu("flow.host").options.map((option) => option.name),
    describe.hosts.map((host) => host.name),
  );
  for (const { id, title, options } of menus) {
    assert.match(title, /^[A-Z]/, id);
    for (const option of options) {
      assert.ok(option.title !== "", `${id} ${option.name}`);
      for (const { name, doc, kind, unit, units } of option.parameters) {
        assert.ok(doc !== "", `${id} ${option.name} ${name}`);
        assert.equal(
          unit !== null && units.includes(unit),
          kind === "quantity",
          `${id} ${option.name} ${name} ${unit}`,
        );
      }
    }
  }
});

test("every number without a unit has bounds, and every parameter of a part that has them in the registry", () => {
  for (const { id, axis, options } of menus) {
    for (const option of options) {
      const declared = describe.parts[axis ?? ""]?.find((part) => part.name === option.name)?.params ?? [];
      for (const { name, kind, bounds } of option.parameters) {
        if (kind === "number" || kind === "integer") assert.ok(bounds, `${id} ${option.name} ${name}`);
        assert.deepEqual(bounds, declared.find((known) => known.name === name)?.bounds ?? bounds);
      }
    }
  }
});

/** What `stateOf` says, briefly. */
function brief(text: string, id: string, index = 0, sound: Table | null = null) {
  const state = stateOf(menu(id), describe, { values: read(text).values, frozen: sound }, index);
  if (!state) return null;
  const given = state.parameters
    .filter(({ written }) => written)
    .map(({ parameter, value }) => [parameter.name, value]);
  return [dotted(state.path), state.option?.name ?? null, state.written, Object.fromEntries(given)];
}

test("a value is found in each of its forms", async () => {
  assert.deepEqual(brief('[flow]\nslow_start = "staged"', "flow.slow_start"), ["flow.slow_start", "staged", true, {}]);
  const table = '[flow.slow_start]\nkind = "staged"\nalgorithm = 3';
  assert.deepEqual(brief(table, "flow.slow_start"), ["flow.slow_start", "staged", true, { algorithm: 3 }]);
  assert.deepEqual(brief('[[flow]]\n[[flow]]\nslow_start = "staged"', "flow.slow_start", 1), [
    "flow.1.slow_start",
    "staged",
    true,
    {},
  ]);
  assert.deepEqual(brief("[flow]", "flow.slow_start"), ["flow.slow_start", "standard", false, {}]);
  assert.deepEqual(brief('[flow]\ninitial_window = "10 segments"', "flow.initial_window"), [
    "flow.initial_window",
    "fixed",
    true,
    { segments: "10 segments" },
  ]);
  assert.deepEqual(brief('topology.bottleneck.queue = { limit = "9 packets" }', "topology.bottleneck.queue"), [
    "topology.bottleneck.queue",
    "droptail",
    true,
    { limit: "9 packets" },
  ]);
  assert.deepEqual(brief("[flow]", "topology.bottleneck.queue")?.slice(1, 3), ["droptail", false]);
  assert.deepEqual(brief("[flow]\necn = true", "flow.ecn"), ["flow.ecn", "true", true, {}]);
  assert.deepEqual(brief('[flow.application]\nkind = "web"\nroot = "30 kB"', "flow.application.root"), [
    "flow.application.root",
    "fixed",
    true,
    { mean: "30 kB" },
  ]);
  assert.equal(brief('topology.kind = "explicit"', "topology.bottleneck.queue"), null);
  assert.deepEqual(brief('[flow]\nslow_start = "standart"', "flow.slow_start"), ["flow.slow_start", null, true, {}]);
  const links = '[topology]\nlinks = [{}, { queue = "red" }]';
  assert.deepEqual(brief(links, "topology.links.queue", 1), ["topology.links.1.queue", "red", true, {}]);
});

test("a preset's values are the defaults of its flow", async () => {
  const text = `${ONE}[[flow]]\ncount = 2\n[[flow]]\nhost = "linux"\n`;
  const sound = await frozen(text);
  assert.deepEqual(brief(text, "flow.avoidance", 1, sound), ["flow.1.avoidance", "cubic_linux", false, {}]);
  assert.deepEqual(brief(text, "flow.initial_window", 1, sound), ["flow.1.initial_window", "rfc6928", false, {}]);
  assert.deepEqual(brief(text, "flow.avoidance", 0, sound), ["flow.0.avoidance", "reno", false, {}]);
  assert.deepEqual(brief(text, "flow.modern.recovery", 1, sound), ["flow.1.modern.recovery", "rack", false, {}]);
});

test("a key without effect says why", () => {
  const unused = (text: string, id: string) =>
    stateOf(menu(id), describe, { values: read(text).values, frozen: null })?.unused;
  assert.equal(unused('[flow]\ncongestion_control = "bbr"', "flow.slow_start"), "bbr replaces it");
  assert.equal(unused('[flow]\ncongestion_control = "composed"', "flow.slow_start"), null);
  assert.equal(unused('[flow]\nhost = "linux"', "flow.recovery"), "only hosts of profile ns2 have it");
  assert.equal(unused("[flow]", "flow.modern.recovery"), "only hosts of profile modern have it");
  assert.equal(unused('[flow]\nprofile = "modern"', "flow.modern.recovery"), null);
  assert.equal(unused("[flow]", "flow.recovery"), null);
});

test("a choice frees what it cannot be combined with", async () => {
  const text = `${ONE}[flow]\nprofile = "ns2" # end hosts\nrecovery = "reno"\nslow_start = "staged"\nrwnd = "20 packets"\n`;
  const after = async (id: string, name: string, from = text) => {
    const made = await edited(from, choose(menu(id), name, describe, read(from).values));
    assert.equal(await problems(made), null, made);
    return made;
  };
  const linux = await after("flow.host", "linux");
  assert.equal(linux, `${ONE}[flow]\nslow_start = "staged"\nhost = "linux"\n`);
  assert.equal(await after("flow.profile", "ns2", linux), `${ONE}[flow]\nslow_start = "staged"\nprofile = "ns2"\n`);
  const bbr = await after("flow.congestion_control", "bbr");
  assert.ok(!bbr.includes("slow_start"));
  assert.ok(!(await after("flow.slow_start", "hystart", bbr)).includes("congestion_control"));
});

test("another queue keeps the limit, another topology its links", async () => {
  const choice = async (text: string, id: string, name: string) => {
    const made = await edited(text, choose(menu(id), name, describe, read(text).values));
    assert.equal(await problems(made), null, made);
    return made.replace(ONE, "").replace("[flow]\n", "").trim();
  };
  const queue = (text: string) => `${ONE}[flow]\n[topology.bottleneck]\nqueue = ${text}\n`;
  const id = "topology.bottleneck.queue";
  assert.match(await choice(queue('"1 BDP"'), id, "codel"), /queue = \{ kind = "codel", limit = "1 BDP" \}/);
  assert.match(
    await choice(queue('{ kind = "red", limit = "9 packets", max_p = 0.1 }'.replace("0.1", '"10 %"')), id, "pie"),
    /queue = \{ kind = "pie", limit = "9 packets" \}/,
  );
  assert.match(
    await choice(queue('{ kind = "red", generator = "mrg32k3a" }'), id, "droptail"),
    /queue = \{ kind = "droptail", generator = "mrg32k3a" \}/,
  );
  assert.match(await choice(queue('{ kind = "red" }'), id, "droptail"), /queue = "droptail"/);
  const hops = `${ONE}[topology]\nkind = "parking-lot"\nhops = 3\nbottleneck.rate = "5 Mbit/s"\n[flow]\n`;
  assert.equal(
    await choice(hops, "topology", "dumbbell"),
    '[topology]\nkind = "dumbbell"\nbottleneck.rate = "5 Mbit/s"',
  );
  assert.equal(
    await choice(`${ONE}[flow]\n`, "flow.application", "on-off"),
    'application = { kind = "on-off", burst = "100 kB", pause = "1 s" }',
  );
});

test("parameters are set in each form of a value", async () => {
  const set = async (text: string, id: string, name: string, value: unknown) => {
    const reading = { values: read(text).values, frozen: null };
    const state = stateOf(menu(id), describe, reading);
    assert.ok(state);
    return (await edited(text, setParameter(menu(id), state, name, value, describe, reading.values)))
      .trim()
      .replace(/ ?([,}])/g, "$1");
  };
  const start = "flow.slow_start";
  assert.equal(
    await set('[flow]\nslow_start = "staged" # c', start, "algorithm", "3"),
    '[flow]\nslow_start = { kind = "staged", algorithm = "3"} # c',
  );
  assert.equal(
    await set('[flow]\nslow_start = { kind = "staged" }', start, "boundaries", [1, 2.5]),
    '[flow]\nslow_start = { kind = "staged", boundaries = [1, 2.5]}',
  );
  assert.equal(
    await set('[flow]\nslow_start = { kind = "staged", algorithm = 3 }', start, "algorithm", null),
    '[flow]\nslow_start = { kind = "staged"}',
  );
  assert.equal(
    await set('[flow]\ninitial_window = "3 segments"', "flow.initial_window", "segments", "4 segments"),
    '[flow]\ninitial_window = "4 segments"',
  );
  const queue = "topology.bottleneck.queue";
  assert.equal(
    await set('[topology.bottleneck]\nqueue = "1 BDP"', queue, "limit", "2 BDP"),
    '[topology.bottleneck]\nqueue = "2 BDP"',
  );
  assert.equal(
    await set('[flow]\nhost = "linux"', "flow.host", "version", "4.10"),
    '[flow]\nhost = { kind = "linux", version = "4.10"}',
  );
});

/** Chooses every option of every menu; what `check` refuses, with its reasons. */
async function tryAll(text: string): Promise<string[]> {
  const values = read(text).values;
  const refused: string[] = [];
  for (const known of menus) {
    const before = stateOf(known, describe, { values, frozen: null });
    if (!before || (before.unused && !describe.relations.replaced.includes(known.axis ?? ""))) continue;
    for (const option of known.options) {
      const made = await edited(text, choose(known, option.name, describe, values));
      const state = stateOf(known, describe, { values: read(made).values, frozen: null });
      assert.equal(state?.option?.name, option.name, `${known.id} ${option.name}\n${made}`);
      const found = await problems(made);
      for (const { key, message } of found ?? []) {
        assert.ok(key !== null && message.length > 10, `${known.id} ${option.name}: ${message}`);
        refused.push(`${known.id} = ${option.name}: ${key}: ${message}`);
      }
    }
    const reset = await edited(text, choose(known, null, describe, values));
    assert.equal(stateOf(known, describe, { values: read(reset).values, frozen: null })?.written, false, known.id);
  }
  return refused;
}

/** Options that need keys which only an author can give, or another host. */
const NEED_MORE = ["topology", "flow.application", "flow.application.object"];

/** Values of other keys that only hosts of one profile have, or that a profile has none of; check names them. */
const BY_PROFILE =
  /^flow\.(profile|host) = \w+: flow\.0\.(application: needs a profile|ecn: accurate requires|initial_ssthresh: must be a number|packet_size: must be 1200 to|\w+: cannot be combined with this profile quinn)/;

test("every option of every menu makes a sound scenario, or check says what is missing", async () => {
  assert.deepEqual((await tryAll(`${ONE}[flow]\n`)).sort(), [
    "flow.application = player: flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern, quic, quinn",
    "flow.application = request-response: flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern, quic, quinn",
    "flow.application = web: flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern, quic, quinn",
    "topology = explicit: topology.link: is missing; example: [[topology.link]]",
  ]);
  const linux = await tryAll(`${ONE}[flow]\nhost = "linux"\n`);
  assert.deepEqual(
    linux.filter((line) => !line.startsWith("flow.application = cbr: ")),
    [
      "topology = explicit: topology.link: is missing; example: [[topology.link]]",
      `flow.application = web: flow.0.application.root: is missing: give root = "30 kB", or the page's contents, or a har file`,
    ],
  );
});

for (const [file, text] of scenarioFiles()) {
  // One workload is as good as another.
  if (file.startsWith("benches/")) continue;
  test(`every option of every menu can be chosen in ${file}`, async () => {
    const refused = (await tryAll(text)).filter((line) => !NEED_MORE.some((id) => line.startsWith(`${id} = `)));
    assert.deepEqual(
      refused.filter((line) => !BY_PROFILE.test(line)),
      [],
    );
  });
}

test("a part inside a part is a parameter with a menu of its own", async () => {
  const queue = menu("topology.bottleneck.queue");
  const inside = (name: string, key: string) => {
    const parameter = queue.options.find((option) => option.name === name)?.parameters.find((one) => one.name === key);
    const found = parameter?.inside?.();
    assert.ok(parameter?.kind === "part" && found, `${name} ${key}`);
    return found;
  };
  const inner = inside("tbf", "queue");
  const parts = describe.parts["queue"]?.map((part) => part.name) ?? [];
  assert.deepEqual(
    inner.options.map((option) => option.name),
    ["auto", ...parts],
  );
  const again = inner.options.find((option) => option.name === "tbf")?.parameters.find((one) => one.name === "queue");
  assert.deepEqual(
    again?.inside?.()?.options.map((option) => option.name),
    ["auto", ...parts],
    "to any depth",
  );
  const codel = { kind: "codel", target: "9 ms" };
  const { option, given } = decode(inner, codel, describe);
  assert.deepEqual(
    parametersIn(option, given)
      .filter(({ written }) => written)
      .map(({ parameter, value }) => [parameter.name, value]),
    [["target", "9 ms"]],
  );
  for (const start of ['"tbf"', '{ kind = "tbf", burst = "9 kB" }']) {
    const text = `${ONE}topology.bottleneck.queue = ${start}\n[flow]\n`;
    const reading = { values: read(text).values, frozen: null };
    const state = stateOf(queue, describe, reading);
    assert.ok(state);
    const after = await edited(text, setParameter(queue, state, "queue", codel, describe, reading.values));
    assert.equal(await problems(after), null);
    assert.match(after, /queue = \{ kind = "codel", target = "9 ms" \}/);
  }
});
