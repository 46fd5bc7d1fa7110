import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../engine/protocol.ts";
import { backlogs, decimals, distance, ladder, moved, nearest, opening, ticks, visible, zoomed } from "./ladder.ts";
import { at, event, place, told } from "./moving.ts";
import { described, nodesOf, type Packet, type Packets, type PacketsAnswer, read } from "./packets.ts";

const LINKS = ["s0>r1", "r1>s0", "r1>r2", "r2>r1", "r2>d0", "d0>r2", "s1>r1", "r2>d1"].map((name) => {
  const [from, to] = name.split(">") as [string, string];
  return { name, from, to, rate: 1e6, delay: 0.01, queue: null };
});

let count = 0;
const packet = (link: string, entered: number, more: Partial<Packet> = {}): Packet => ({
  index: count++,
  link: LINKS.findIndex(({ name }) => name === link),
  flow: 0,
  kind: "data",
  source: "sender",
  number: 7,
  size: 1040,
  retransmission: false,
  ecn: "Not-ECT",
  entered,
  left: entered,
  arrived: entered + 0.1,
  dropped: undefined,
  reason: "",
  ...more,
});
const part = (packets: Packet[]): Packets => ({
  scenario: { name: "", duration: 10, seed: 1, flows: ["a", "b"], links: LINKS, bottleneck: "r1>r2", record: [] },
  from: 0,
  to: 1,
  cut: false,
  packets,
});
const WAY = ["s0>r1", "r1>r2", "r2>d0"];
const there = WAY.map((link, hop) => packet(link, hop * 0.1));
const back = ["d0>r2", "r2>r1", "r1>s0"].map((link, hop) =>
  packet(link, 0.3 + hop * 0.1, { kind: "ack", source: "receiver" }),
);

test("nodes are in the order of the way, whatever the order of the links", () => {
  assert.deepEqual(nodesOf(0, part([...there].reverse())), ["s0", "r1", "r2", "d0"]);
  assert.deepEqual(nodesOf(0, part([...back, ...there])), ["s0", "r1", "r2", "d0"]);
  // Only ACKs in the span: the way back tells the nodes.
  assert.deepEqual(nodesOf(0, part(back)), ["s0", "r1", "r2", "d0"]);
  assert.deepEqual(nodesOf(1, part(there)), []);
});

test("a packet is a slanted line, from its start to its arrival", () => {
  const { nodes, lines } = ladder(part([...there, ...back]), 0);
  assert.equal(nodes.length, 4);
  assert.deepEqual(
    lines.map(({ from, to, reached }) => [from, to, reached]),
    [
      [0, 1, 1],
      [1, 2, 2],
      [2, 3, 3],
      [3, 2, 2],
      [2, 1, 1],
      [1, 0, 0],
    ],
  );
});

test("losses end at the queue or on the way", () => {
  const queue = packet("r1>r2", 0.2, { left: undefined, arrived: undefined, dropped: 0.2, reason: "overflow" });
  const way = packet("r1>r2", 0.3, { left: 0.3, arrived: undefined, dropped: 0.4, reason: "random" });
  const { lines } = ladder(part([...there, queue, way]), 0);
  const [first, second] = lines.slice(3);
  assert.ok(first!.lost && first!.reached < 1.2 && first!.reached > 1);
  assert.ok(second!.lost && second!.reached < 2 && second!.reached > 1.7);
  assert.match(described(queue, part([]).scenario), /Segment 7 \(a, 1040 B, r1>r2\).*Lost at 0\.2000 s \(overflow\)/);
});

test("the backlog counts the packets that wait, of all flows", () => {
  const first = packet("r1>r2", 0.1, { left: 0.4, arrived: 0.5 });
  const other = packet("r1>r2", 0.2, { left: 0.6, arrived: 0.7, flow: 1 });
  const dropped = packet("r1>r2", 0.3, { left: undefined, arrived: undefined, dropped: 0.3 });
  const packets = part([...there, first, other, dropped]);
  const [queue, ...rest] = backlogs(ladder(packets, 0), packets);
  assert.deepEqual(rest, []);
  assert.deepEqual([queue!.from, queue!.to, queue!.most], [1, 2, 2]);
  assert.deepEqual(queue!.steps, [
    [0.1, 1],
    [0.2, 2],
    [0.4, 1],
    [0.6, 0],
  ]);
});

test("visible lines touch the window", () => {
  const { lines } = ladder(part(there), 0);
  assert.deepEqual(
    visible(lines, 0.15, 0.17).map(({ packet }) => packet.index),
    [there[1]!.index],
  );
  assert.equal(visible(lines, 0, 1).length, 3);
});

test("the nearest line is found within reach", () => {
  const { lines } = ladder(part(there), 0);
  const x = (node: number) => node * 100;
  const y = (time: number) => time * 1000;
  assert.equal(nearest(lines, [50, 52], x, y, 8)?.packet, there[0]);
  assert.equal(nearest(lines, [50, 90], x, y, 8), undefined);
  assert.equal(distance([0, 5], [0, 0], [0, 0]), 5);
});

test("zooming keeps the time under the pointer and stays within the limits", () => {
  assert.deepEqual(zoomed([0, 1], [0, 1], 0.5, 0), [0, 0.5]);
  assert.deepEqual(zoomed([0, 1], [0, 1], 0.5, 1), [0.5, 1]);
  assert.deepEqual(zoomed([0.5, 1], [0, 1], 10), [0, 1]);
  assert.deepEqual(moved([0, 0.5], [0, 1], 3), [0.5, 1]);
  assert.deepEqual(moved([0.25, 0.5], [0, 1], -0.5), [0.125, 0.375]);
});

test("a diagram opens with a few packets, around the first loss", () => {
  const sent = Array.from({ length: 100 }, (_, number) => packet("s0>r1", number / 100));
  const lost = (entered: number) => packet("s0>r1", entered, { left: undefined, arrived: undefined, dropped: entered });
  const first = (packets: Packet[]) =>
    opening(ladder(part(packets), 0).lines, [0, 1], 10).map((time) => Number(time.toFixed(6)));
  assert.deepEqual(first(sent), [0, 0.1]);
  assert.deepEqual(first([...sent, lost(0.05)]), [0, 0.1]);
  assert.deepEqual(first([...sent, lost(0.6), lost(0.7)]), [0.55, 0.65]);
  assert.deepEqual(first([...sent, lost(0.99)]), [0.9, 1]);
});

test("ticks are round", () => {
  assert.deepEqual([1, 0.2, 0.05, 0.001].map(decimals), [0, 1, 2, 3]);
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  assert.deepEqual(
    ticks(0.95, 1.52, 6).map((time) => time.toFixed(2)),
    ["1.00", "1.10", "1.20", "1.30", "1.40", "1.50"],
  );
});

test("a moment has waiting, moving and lost packets", () => {
  const waits = packet("r1>r2", 0.1, { left: 0.5, arrived: 0.6 });
  const sooner = packet("r1>r2", 0.15, { left: 0.3, arrived: 0.4 });
  const lost = packet("r1>r2", 0.18, { left: undefined, arrived: undefined, dropped: 0.18 });
  const packets = part([packet("s0>r1", 0), waits, sooner, lost]);
  const moment = at(packets, 0.2, 0.05);
  assert.deepEqual([...moment.waiting.values()], [[sooner, waits]]);
  assert.deepEqual(moment.moving, []);
  assert.deepEqual(moment.lost, [lost]);
  assert.equal(at(packets, 0.05, 0.05).moving[0]!.share, 0.5);
  assert.match(
    told(moment, packets),
    /0 data packets and 0 ACKs; waiting: 2 in the queue of r1>r2; just lost: 1 on r1>r2/,
  );
});

test("steps go from event to event", () => {
  const packets = part(there);
  assert.equal(event(packets, 0, true), 0.1);
  assert.equal(event(packets, 0.15, false), 0.1);
  assert.equal(event(packets, 0.95, true), 1);
});

test("nodes of a dumbbell have columns, and senders share one", () => {
  const second = ["s1>r1", "r1>r2", "r2>d1"].map((link) => packet(link, 0.1, { flow: 1 }));
  const nodes = Object.fromEntries(place(part([...there, ...second]), [0, 1]).map(({ name, x, y }) => [name, [x, y]]));
  assert.deepEqual(nodes["s0"], [0, 0.25]);
  assert.deepEqual(nodes["s1"], [0, 0.75]);
  assert.deepEqual(nodes["r1"], [1 / 3, 0.5]);
  assert.deepEqual(nodes["d1"], [1, 0.75]);
});

test("an answer is read, and a cut one ends where it is complete", () => {
  const columns: [string, "f64" | "u32" | "u8", number[], string[]?][] = [
    ["link", "u32", [2]],
    ["flow", "u32", [1]],
    ["kind", "u8", [1], ["data", "ack"]],
    ["source", "u8", [1], ["sender", "receiver"]],
    ["number", "u32", [9]],
    ["size", "u32", [40]],
    ["retransmission", "u8", [0], ["no", "yes"]],
    ["ecn", "u8", [3], ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]],
    ["entered", "f64", [0.25]],
    ["left", "f64", [0.5]],
    ["arrived", "f64", [Number.NaN]],
    ["dropped", "f64", [0.75]],
    ["reason", "u8", [1], ["", "random"]],
  ];
  const header: PacketsAnswer = {
    scenario: part([]).scenario,
    from: 0.2,
    to: 1,
    missing_from: 0.6,
    packets: {
      rows: 1,
      columns: columns.map(([name, type, , words], index) => ({
        name,
        type,
        offset: index * 8,
        ...(words && { words }),
      })),
    },
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(start + columns.length * 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, text.length, true);
  bytes.set(text, 4);
  for (const [index, [, type, [value]]] of columns.entries()) {
    if (type === "f64") view.setFloat64(start + index * 8, value!, true);
    else if (type === "u32") view.setUint32(start + index * 8, value!, true);
    else view.setUint8(start + index * 8, value!);
  }
  const { packets, to, cut } = read(decode<PacketsAnswer>(bytes));
  assert.deepEqual([to, cut], [0.6, true]);
  const { index: _, ...found } = packets[0]!;
  assert.deepEqual(found, {
    link: 2,
    flow: 1,
    kind: "ack",
    source: "receiver",
    number: 9,
    size: 40,
    retransmission: false,
    ecn: "CE",
    entered: 0.25,
    left: 0.5,
    arrived: undefined,
    dropped: 0.75,
    reason: "random",
  });
});
