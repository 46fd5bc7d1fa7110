import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState, type TransactionSpec } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import fc from "fast-check";
import { type Problem, Refused } from "../engine/protocol.ts";
import { scenarioFiles } from "../scenario/examples.ts";
import { nativeEngine } from "../scenario/native.ts";
import { read, spotAt } from "../scenario/toml.ts";
import { complete, explain } from "./complete.ts";
import { diagnostics, difference } from "./editor.ts";

const engine = nativeEngine();
after(() => engine.close());
const describe = (await engine.ask({ do: "describe" })).header;

/** The suggestions at the cursor, which `|` marks. */
function suggestions(marked: string, explicit = true): string[] {
  const position = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", "") });
  const result = complete(describe)(new CompletionContext(state, position, explicit));
  return result?.options.map((option) => option.label) ?? [];
}

/** The text after the suggestion `label` was taken, with `|` around what is selected. */
function taken(marked: string, label: string): string {
  const position = marked.indexOf("|");
  let state = EditorState.create({ doc: marked.replace("|", "") });
  const result = complete(describe)(new CompletionContext(state, position, true));
  const option = result?.options.find((option) => option.label === label);
  assert.ok(result && option && typeof option.apply === "function", label);
  const view = {
    state,
    dispatch: (change: TransactionSpec) => {
      state = state.update(change).state;
    },
  };
  option.apply(view as unknown as EditorView, option, result.from, result.to ?? position);
  const { from, to } = state.selection.main;
  const text = state.doc.toString();
  return from === to
    ? `${text.slice(0, from)}|${text.slice(from)}`
    : `${text.slice(0, from)}|${text.slice(from, to)}|${text.slice(to)}`;
}

/** The help at the cursor. */
function help(marked: string): string {
  const text = marked.replace("|", "");
  const reading = read(text);
  const spot = spotAt(reading, marked.indexOf("|"));
  return spot ? explain(describe, reading, spot, text).join(" / ") : "";
}

/** The marked texts and messages of the problems that the engine finds. */
async function marks(text: string): Promise<[string, string][]> {
  const found = await engine.ask({ do: "check", text }).then(
    () => [],
    (error: unknown) => {
      assert.ok(error instanceof Refused);
      return error.problems;
    },
  );
  return diagnostics(found, text).map(({ from, to, message }) => [text.slice(from, to), message]);
}

test("tables are suggested after brackets and at the beginning of a line", () => {
  assert.deepEqual(suggestions("[|").sort(), ["flow", "sweep", "topology"]);
  assert.deepEqual(suggestions("[[|"), ["flow"]);
  assert.ok(suggestions("[topology.|").includes("bottleneck"));
  assert.ok(suggestions("[[flow]]\n[flow.|").includes("modern"));
  const start = suggestions('duration = "1 s"\n|');
  assert.ok(start.includes("[topology]") && start.includes("[[flow]]") && start.includes("seed"));
  assert.ok(!start.includes("duration"));
  assert.ok(suggestions("[[flow]]\n[[flow]]\n|").includes("[flow.modern]"));
});

test("keys are those of the table and its kind, without those that it has", () => {
  assert.ok(suggestions("[flow]\n|").includes("slow_start"));
  assert.ok(!suggestions('[flow]\nslow_start = "staged"\n|').includes("slow_start"));
  assert.ok(!suggestions("[flow]\n|").includes("duration"));
  const queue = suggestions('topology.bottleneck.queue = { kind = "red", | }');
  assert.ok(queue.includes("max_p") && !queue.includes("kind") && !queue.includes("target"));
  assert.ok(suggestions('[topology]\nkind = "dumbbell"\n|').includes("access_delays"));
  assert.ok(!suggestions("[topology]\n|").includes("access_delays"));
  assert.ok(suggestions("[sweep]\n|").includes('"flow.slow_start"'));
});

test("values are parts, words, truth values and quantities with units", () => {
  assert.deepEqual(
    suggestions("[flow]\nslow_start = |"),
    (describe.parts["slow_start"] ?? []).map((part) => `"${part.name}"`),
  );
  assert.ok(suggestions('[flow]\nslow_start = "st|"').includes('"staged"'));
  assert.deepEqual(suggestions("[flow]\necn = |"), ['"classic"', '"accurate"', '"dctcp"', "true", "false"]);
  assert.deepEqual(suggestions('duration = "10 |').sort(), [
    '"10 h"',
    '"10 min"',
    '"10 ms"',
    '"10 ns"',
    '"10 s"',
    '"10 us"',
  ]);
  assert.ok(suggestions("topology.bottleneck.rate = |").includes('"10 Mbit/s"'));
  assert.ok(suggestions("topology.kind = |").includes('"dumbbell"'));
  assert.ok(suggestions('topology.bottleneck.queue = { kind = "| }').includes('"codel"'));
  assert.ok(suggestions('record = ["cwnd", |]').includes('"queue"'));
  assert.ok(suggestions('[sweep]\n"flow.slow_start" = ["standard", |]').includes('"staged"'));
  assert.ok(suggestions("[flow]\nhost = |").includes('"linux"'));
  assert.ok(suggestions("[flow]\ninitial_ssthresh = |").includes('"rwnd"'));
});

test("a suggestion replaces the key or value at the cursor", () => {
  assert.equal(taken("[flow]\nsl|", "slow_start"), '[flow]\nslow_start = "|standard|"');
  assert.equal(taken("[flow]\nslow|_sta = 1", "slow_start"), "[flow]\nslow_start| = 1");
  assert.equal(taken('[flow]\nslow_start = "h|" # c', '"hystart"'), '[flow]\nslow_start = "hystart"| # c');
  assert.equal(taken("[flow]\nslow_start = |", '"hystart"'), '[flow]\nslow_start = "hystart"|');
  assert.equal(taken('[flow]\nslow_start = "sta|ged"', '"standard"'), '[flow]\nslow_start = "standard"|');
  assert.equal(taken("[flow]\necn = |", "true"), "[flow]\necn = true|");
  assert.equal(taken('duration = "10 |"', '"10 ms"'), 'duration = "10 ms"|');
});

test("nothing is suggested in comments, nor unasked in the middle of nothing", () => {
  assert.deepEqual(suggestions("# [|"), []);
  assert.deepEqual(suggestions("[flow]\n|", false), []);
  assert.ok(suggestions("[flow]\nsl|", false).includes("slow_start"));
});

test("help tells the meaning of keys, tables and words", () => {
  assert.match(
    help("dur|ation = 1"),
    /^duration \/ End of the run.* \/ Value: number with unit ns, us, ms, s, min, h$/,
  );
  assert.match(
    help('[flow]\nslow_st|art = "staged"'),
    /^flow\.slow_start \/ Window growth below ssthresh\..*Default: "standard"$/,
  );
  assert.match(help('[flow]\nslow_start = "stag|ed"'), /^staged \/ Advanced Slow Start/);
  assert.match(help("[to|pology]"), /^topology \/ The network/);
  assert.match(help("[[flow]]\n[[flow]]\n[flow.mod|ern]"), /^flow\.modern \/ Settings of end hosts/);
  assert.match(help('queue = 1\n[topology.bottleneck]\nqueue = { kind = "co|del" }'), /^codel \/ /);
  assert.equal(help("unknown| = 1"), "");
});

test("problems are marked where they are written", async () => {
  assert.deepEqual(await marks('duration = "1 s"\n[flow]\nslow_start = "standart" # here\n'), [
    ['"standart"', (await marks('duration = "1 s"\n[flow]\nslow_start = "standart"'))[0]![1]],
  ]);
  const many = await marks('duration = 30\n[[flow]]\n[[flow]]\nrwnd = "20 pkts"\nspeed = 3\ntopology = 1\n');
  assert.deepEqual(
    many.map(([marked]) => marked),
    ["30", '"20 pkts"', "speed", "topology"],
  );
  assert.deepEqual(
    (await marks("[flow]\n")).map(([marked, message]) => [marked, message.split(":")[0]]),
    [["[flow]", "duration"]],
  );
  const broken = await marks('duration = "1 s\n[flow]\n');
  assert.equal(broken.length, 1);
  const nested = await marks(
    'duration = "1 s"\nflow = {}\n[topology.bottleneck]\nqueue = { kind = "red", max_p = "200 %" }\n',
  );
  assert.deepEqual(
    nested.map(([marked]) => marked),
    ['"200 %"'],
  );
  const host = await marks('duration = "1 s"\n[[flow]]\nhost = "linus"\n');
  assert.deepEqual(
    host.map(([marked]) => marked),
    ['"linus"'],
  );
});

test("any problem has a mark within the text", () => {
  const texts = fc.constantFrom(
    "",
    "\n",
    ...scenarioFiles()
      .slice(0, 20)
      .map(([, text]) => text),
  );
  const problem = fc.record<Problem>({
    line: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
    column: fc.option(fc.integer({ min: 1, max: 90 }), { nil: null }),
    key: fc.option(fc.constantFrom("", "flow", "flow.0.slow_start", "flow.1.rwnd", "topology.links.0.queue.kind"), {
      nil: null,
    }),
    message: fc.string(),
    setting: fc.constant(null),
  });
  fc.assert(
    fc.property(texts, fc.array(problem, { maxLength: 5 }), (text, problems) => {
      const made = diagnostics(problems, text);
      assert.equal(made.length, problems.length);
      for (const { from, to } of made) assert.ok(0 <= from && from <= to && to <= text.length);
    }),
  );
});

test("a replaced text changes only what differs", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (head, one, other, tail) => {
      const { from, to, insert } = difference(head + one + tail, head + other + tail);
      const before = head + one + tail;
      assert.equal(before.slice(0, from) + insert + before.slice(to), head + other + tail);
      assert.ok(
        from >= 0 &&
          to <= before.length &&
          insert.length <= other.length + Math.min(one.length, other.length) + other.length,
      );
    }),
  );
  assert.deepEqual(difference("a = 1\nb = 2\n", "a = 1\nb = 3\n"), { from: 10, to: 11, insert: "3" });
});
