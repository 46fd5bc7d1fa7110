import assert from "node:assert/strict";
import { test } from "node:test";
import { type Knob, knobs, position, STEPS, stepped, valueAt } from "./knobs.ts";
import { format, parse } from "./quantity.ts";

const all = (values: { [key: string]: unknown }) =>
  Object.fromEntries(knobs(values, (queue) => queue !== "fq_unlimited").map((knob) => [knob.id, knob])) as Record<
    Knob["id"],
    Knob
  >;

test("quantities are read in any unit and written in a fitting one", () => {
  assert.deepEqual(parse("10 Mbit/s", ["rate"]), { value: 1e7, kind: "rate" });
  assert.deepEqual(parse("1.5e2us", ["time"]), { value: 1.5e-4, kind: "time" });
  assert.equal(parse("10", ["rate"]), undefined);
  assert.equal(parse("10 s", ["rate"]), undefined);
  assert.deepEqual(
    [
      format(1e7, "rate"),
      format(999_999, "rate"),
      format(0.0123456, "time"),
      format(0, "time"),
      format(1, "packets"),
      format(0.001, "share"),
    ],
    ["10 Mbit/s", "1 Mbit/s", "12.3 ms", "0 s", "1 packet", "0.1 %"],
  );
});

test("defaults of a scenario without a topology", () => {
  const { rate, rtt, buffer, loss } = all({});
  assert.deepEqual([rate.value, buffer.value, buffer.kind, loss.value], [1e7, 50, "packets", 0]);
  assert.ok(Math.abs(rtt.value - 0.06) < 1e-12);
  assert.deepEqual(rate.set(2e7, "rate"), [["topology.bottleneck.rate", '"20 Mbit/s"']]);
});

test("the amount of data is that of the first flow, if it has one", () => {
  assert.equal(all({}).size, undefined);
  assert.equal(all({ flow: [{ size: { kind: "pareto" } }] }).size, undefined);
  const { size } = all({ flow: { size: "1 MB" } });
  assert.deepEqual([size.value, size.kind], [1e6, "bytes"]);
  assert.deepEqual(size.set(3e5, "bytes"), [["flow.size", '"300 kB"']]);
  const { size: first } = all({ flow: [{ size: "20 packets" }, { size: "1 MB" }] });
  assert.deepEqual(first.set(30, "packets"), [["flow.0.size", '"30 packets"']]);
});

test("the round-trip time sets the bottleneck's delay, and a short one also that of the access links", () => {
  const { rtt } = all({ topology: { access: { delay: "5 ms" }, bottleneck: { delay: "10 ms" } } });
  assert.ok(Math.abs(rtt.value - 0.04) < 1e-12);
  assert.deepEqual(rtt.set(0.1, "time"), [["topology.bottleneck.delay", '"40 ms"']]);
  assert.deepEqual(rtt.set(0.008, "time"), [
    ["topology.access.delay", '"1 ms"'],
    ["topology.bottleneck.delay", '"2 ms"'],
  ]);
});

test("the round-trip time counts reverse delays and hops", () => {
  const reverse = { delay: "30 ms" };
  assert.ok(Math.abs(all({ topology: { bottleneck: { delay: "10 ms", reverse } } }).rtt.value - 0.08) < 1e-12);
  assert.ok(Math.abs(all({ topology: { kind: "parking-lot", hops: 3 } }).rtt.value - 0.1) < 1e-12);
});

test("the buffer is the queue's limit in its own unit", () => {
  const limit = (queue: unknown) => all({ topology: { bottleneck: { queue } } }).buffer;
  assert.deepEqual(limit("1 BDP").set(2, "bdp"), [["topology.bottleneck.queue", '"2 BDP"']]);
  assert.deepEqual(limit({ kind: "red", limit: "64 kB" }).set(1e5, "bytes"), [
    ["topology.bottleneck.queue.limit", '"100 kB"'],
  ]);
  assert.deepEqual(limit("codel").set(20, "packets"), [
    ["topology.bottleneck.queue", '{ kind = "codel", limit = "20 packets" }'],
  ]);
  assert.match(limit("fq_unlimited").disabled!, /has no limit/);
  assert.equal(limit("unlimited").disabled, undefined);
});

test("no loss is the left end of the slider", () => {
  const { loss } = all({});
  assert.equal(position(loss, 0), 0);
  assert.equal(valueAt(loss, 0), 0);
  assert.deepEqual(loss.set(0, "share"), [["topology.bottleneck.loss", '"none"']]);
  assert.deepEqual(
    all({ topology: { bottleneck: { loss: { kind: "bernoulli", rate: "1 %" } } } }).loss.set(0.02, "share"),
    [["topology.bottleneck.loss.rate", '"2 %"']],
  );
  assert.match(all({ topology: { bottleneck: { loss: { kind: "listed" } } } }).loss.disabled!, /listed/);
});

test("the slowest of listed links is the bottleneck if they form a line", () => {
  const chain = all({ topology: { links: [{ delay: "25 ms", rate: "12 Mbit/s", queue: "50 packets", loss: "1 %" }] } });
  assert.deepEqual(chain.rate.set(2e7, "rate"), [["topology.links.0.rate", '"20 Mbit/s"']]);
  assert.deepEqual([chain.rtt.value, chain.buffer.value, chain.loss.value], [0.05, 50, 0.01]);
  const link = [
    { from: "a", to: "b", rate: "1 Gbit/s", delay: "5 ms", queue: "unlimited" },
    { from: "b", to: "c", rate: "2 Mbit/s", delay: "10 ms", queue: "20 packets", reverse: { delay: "30 ms" } },
  ];
  const line = all({ topology: { kind: "explicit", link } });
  assert.ok(Math.abs(line.rtt.value - 0.05) < 1e-12);
  assert.deepEqual(line.rtt.set(0.06, "time"), [["topology.link.1.delay", '"20 ms"']]);
  assert.deepEqual(line.buffer.set(30, "packets"), [["topology.link.1.queue", '"30 packets"']]);
  for (const other of [[], [...link].reverse()])
    assert.match(all({ topology: { kind: "explicit", link: other } }).rate.disabled!, /no one line/);
});

test("no slider gives a queue that drops every packet", () => {
  const limit = (queue: unknown) => all({ topology: { bottleneck: { queue } } }).buffer;
  assert.equal(valueAt(limit("50 packets"), 0), 2);
  assert.ok(valueAt(limit("64 kB"), 0) >= 3000);
});

test("positions and values agree on the logarithmic scale", () => {
  const { rate } = all({});
  assert.deepEqual([position(rate, rate.low), position(rate, rate.high)], [0, STEPS]);
  for (const at of [0, 250, 500, STEPS]) assert.ok(Math.abs(position(rate, valueAt(rate, at)) - at) <= 6);
});

test("a step always reaches another value, also where positions have the same rounded value", () => {
  const { rate, rtt, buffer, loss } = all({});
  for (const knob of [rate, rtt, buffer, loss]) {
    let value = valueAt(knob, 0);
    for (const direction of [1, -1] as const) {
      const end = direction === 1 ? knob.high : valueAt(knob, 0);
      for (let count = 0; Math.abs(value - end) > 1e-9 * end; count++) {
        const next = stepped(knob, value, direction);
        assert.equal(Math.sign(next - value), direction, `${knob.id} ${value}`);
        assert.ok(count <= STEPS);
        // The page writes the value into the text, and reads it back.
        value = next === 0 ? 0 : parse(format(next, knob.kind), [knob.kind])!.value;
      }
      assert.equal(stepped(knob, value, direction), value, "the end of the slider");
    }
  }
  assert.equal(stepped(rate, 1e7, 1), 1.1e7);
  assert.equal(stepped(rate, 10_050_000, 1), 1.1e7);
});

test("a model of rate, delay or loss disables its slider", () => {
  const bottleneck = {
    rate: { kind: "schedule" },
    delay: "jitter",
    loss: ["1 %", { kind: "duplicate" }],
  };
  const { rate, rtt, loss } = all({ topology: { bottleneck } });
  assert.match(rate.disabled!, /rate model “schedule”/);
  assert.match(rtt.disabled!, /delay model “jitter”/);
  assert.match(loss.disabled!, /list of loss models/);
  assert.ok(rate.value > 0 && rtt.value > 0);
});
