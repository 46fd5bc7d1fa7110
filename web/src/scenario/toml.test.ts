import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { written } from "./schema.ts";
import { dotted, read, spotAt, type Value } from "./toml.ts";

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The spot at the cursor, which `|` marks. */
function at(marked: string) {
  const offset = marked.indexOf("|");
  const spot = spotAt(read(marked.replace("|", "")), offset);
  return spot && [spot.kind, dotted(spot.path), marked.replace("|", "").slice(spot.from, spot.to)];
}

test("tables, lists of tables, dotted keys and values", () => {
  const { values } = read(`# comment
a = 1_000 # one
"b c".d = [0x1f, -2.5e3, true,
  'x # y', # comment
]
[flow] # f
x = { y = "q\\t\\u00e9", z = [{ w = 1 }, {}] }
[[link]]
n = """
one
two"""
[link.reverse]
k = inf
[[link]]
n = '''\\n'''
`);
  assert.equal((values["link"] as { reverse: { k: number } }[])[0]?.reverse.k, Infinity);
  assert.deepEqual(plain(values), {
    a: 1000,
    "b c": { d: [31, -2500, true, "x # y"] },
    flow: { x: { y: "q\té", z: [{ w: 1 }, {}] } },
    link: [{ n: "one\ntwo", reverse: { k: null } }, { n: "\\n" }],
  });
});

test("a fault costs no more than its line", () => {
  const { values } = read(`a = "open\\
b = [1,
c = 3
d = { x = 1, y =
[flow
rest
[flow.modern]
tlp = true
= 4
e = 5 6
`);
  assert.deepEqual(plain(values), { a: "open", b: [1], c: 3, d: { x: 1 }, flow: { modern: { tlp: true, e: 5 } } });
});

test("keys of Object's prototype are keys like any other", () => {
  const { values } = read('__proto__.x = 1\nconstructor = 2\n[[toString]]\na = "b"');
  assert.deepEqual(Object.keys(values), ["__proto__", "constructor", "toString"]);
  assert.equal(({} as { x?: number }).x, undefined);
});

test("what stands at the cursor", () => {
  assert.deepEqual(at("|"), ["key", "", ""]);
  assert.deepEqual(at("dur|"), ["key", "", "dur"]);
  assert.deepEqual(at("[fl|"), ["header", "", "fl"]);
  assert.deepEqual(at("[[topology.|"), ["header", "topology", ""]);
  assert.deepEqual(at("[flow]\n|"), ["key", "flow", ""]);
  assert.deepEqual(at("[flow]\n\n|\nx = 1"), ["key", "flow", ""]);
  assert.deepEqual(at("[[flow]]\n[[flow]]\nslow|"), ["key", "flow.1", "slow"]);
  assert.deepEqual(at("[flow]\nslow_start = |"), ["value", "flow.slow_start", ""]);
  assert.deepEqual(at('[flow]\nslow_start = "st|'), ["value", "flow.slow_start", '"st']);
  assert.deepEqual(at("x = { |"), ["key", "x", " "]);
  assert.deepEqual(at('x = { kind = "a", | }'), ["key", "x", "  "]);
  assert.deepEqual(at('x = { kind = "|" }'), ["value", "x.kind", '""']);
  assert.deepEqual(at('x = ["a", |]'), ["value", "x.1", " "]);
  assert.deepEqual(at("x = [|]"), ["value", "x.0", ""]);
  assert.deepEqual(at("x.y.z|"), ["key", "x.y", "z"]);
  assert.equal(at("a = 1 # |"), null);
  assert.equal(at("# a|"), null);
});

test("marks tell the pieces of a text apart, in its order", () => {
  const text = "# c\n[[a.b]] # d\nx.y = { k = \"# s\", n = [1, # e\n true] } # f\n\"q\" = '''\n# t'''\nopen = \"u\n[ v";
  assert.deepEqual(
    read(text).marks.map(({ kind, from, to }) => [kind, text.slice(from, to)]),
    [
      ["Comment", "# c"],
      ["Header", "[[a.b]]"],
      ["Comment", "# d"],
      ["Key", "x"],
      ["Key", "y"],
      ["Key", "k"],
      ["String", '"# s"'],
      ["Key", "n"],
      ["Atom", "1"],
      ["Comment", "# e"],
      ["Atom", "true"],
      ["Comment", "# f"],
      ["Key", '"q"'],
      ["String", "'''\n# t'''"],
      ["Key", "open"],
      ["String", '"u'],
      ["Header", "[ v"],
    ],
  );
});

test("entries know where key and value are written", () => {
  const text = '[flow]\nqueue = { kind = "red", limit = "5 packets" }\n';
  const places = read(text).entries.map(({ path, value }) => [dotted(path), text.slice(value.from, value.to)]);
  assert.deepEqual(places, [
    ["flow.queue.kind", '"red"'],
    ["flow.queue.limit", '"5 packets"'],
    ["flow.queue", '{ kind = "red", limit = "5 packets" }'],
  ]);
});

const key = fc.oneof(fc.stringMatching(/^[\w-]{1,8}$/), fc.string({ minLength: 1, maxLength: 5, unit: "grapheme" }));
const scalar = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test("reading is the inverse of writing", () => {
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true }), (table) => {
      const lines = Object.entries(table).map(([key, item]) => `${JSON.stringify(key)} = ${written(item)}`);
      assert.deepEqual(plain(read(lines.join("\n")).values), plain(table));
    }),
  );
});

test("any text can be read, and spots lie in it", () => {
  const pieces = fc.constantFrom(...'[ ] { } " \' """ = . , a flow 1 # \\'.split(" "), "\n", " ", "\r\n");
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 40 }), (parts) => {
      const text = parts.join("");
      const { spots, entries, marks } = read(text);
      for (const { from, to } of [...spots, ...entries.map((entry) => entry.value)])
        assert.ok(0 <= from && from <= to && to <= text.length);
      marks.reduce((end, { from, to }) => {
        assert.ok(end <= from && from < to && to <= text.length);
        return to;
      }, 0);
      for (let offset = 0; offset <= text.length; offset += 1) spotAt(read(text), offset);
    }),
    { numRuns: 300, examples: [[['"', "\\"]], [['"', "\\", "u", "1"]], [['"""', "\\", "\n", " "]]] },
  );
});

test("a value is written as TOML", () => {
  const cases: [Value, string][] = [
    ["a\u007f", '"a\\u007f"'],
    [1.5, "1.5"],
    [[1, "x"], '[1, "x"]'],
    [{ "a b": true }, '{ "a b" = true }'],
    [{}, "{}"],
  ];
  for (const [value, text] of cases) assert.equal(written(value), text);
});
