import assert from "node:assert/strict";
import { test } from "node:test";
import type { Values } from "../playground/knobs.ts";
import { engines, kernelEngine } from "./kernel.ts";
import type { Message, Model, Options } from "./model.ts";
import { sliders } from "./sliders.ts";

const VALUES: Values = {
  seed: 3,
  topology: { bottleneck: { rate: "10 Mbit/s", queue: "1 BDP" } },
  flow: [{ rwnd: "20 packets" }, { rwnd: "200 packets", start: 4 }],
};
const one = (key: string, low: string | number | null, high: string | number | null) =>
  sliders([{ key, low, high }], VALUES, () => true)[0]!;

test("a slider of the bottleneck gets the notebook's ends", () => {
  const rate = one("rate", "1 Mbit/s", "1 Gbit/s");
  assert.deepEqual([rate.value, rate.low, rate.high], [1e7, 1e6, 1e9]);
  assert.deepEqual(one("rate", null, null).set(2e6, "rate"), [["topology.bottleneck.rate", '"2 Mbit/s"']]);
});

test("ends of another kind than the scenario's value disable the slider", () => {
  assert.match(one("buffer", "10 packets", "100 packets").disabled!, /“1 BDP”.*“100 packets”/);
  assert.equal(one("buffer", "0.5 BDP", "4 BDP").disabled, undefined);
});

test("a slider of any key reads and writes its value", () => {
  const second = one("flow.1.rwnd", "10 packets", "1000 packets");
  assert.equal(second.value, 200);
  assert.deepEqual(second.set(30, "packets"), [["flow.1.rwnd", '"30 packets"']]);
  assert.equal(one("flow.rwnd", "10 packets", "1000 packets").value, 20);
  assert.match(one("flow.1.start", "1 ms", "1 s").disabled!, /cannot show/);
});

test("whole ends make whole numbers, and other ends do not", () => {
  const seed = one("seed", 1, 9);
  assert.equal(seed.value, 3);
  assert.deepEqual(seed.set(4.4, "number"), [["seed", "4"]]);
  assert.deepEqual(one("flow.avoidance.beta", 0.1, 0.9).set(0.25, "number"), [["flow.avoidance.beta", "0.25"]]);
});

test("a slider from 0 has 0 at its left end; without a value it begins in the middle", () => {
  const start = one("flow.1.stop", "0 s", "4 s");
  assert.deepEqual([start.zero, start.low, start.high], [true, 4e-3, 4]);
  assert.ok(start.value > start.low && start.value < start.high);
});

/** A model whose kernel answers with a function. */
function model(
  engine: Options["engine"],
  answer: (content: { id?: string; kind: string }) => [Message, DataView[]],
): Model {
  const listeners = new Set<(message: Message, buffers: DataView[]) => void>();
  return {
    get: () => ({ engine }),
    send(content: { kind: string }) {
      queueMicrotask(() => {
        for (const listener of [...listeners]) listener(...answer(content));
      });
    },
    on: (_event: string, listener: () => void) => listeners.add(listener),
    off: (_event: string, listener: () => void) => listeners.delete(listener),
  } as unknown as Model;
}

function frame(header: object): DataView {
  const text = new TextEncoder().encode(JSON.stringify(header));
  // As Jupyter gives it: somewhere in a larger buffer.
  const bytes = new Uint8Array(8 + Math.ceil((4 + text.length) / 8) * 8);
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 12);
  return new DataView(bytes.buffer, 8);
}

test("two engines of a model do not take each other's answers", async () => {
  const shared = model("kernel", ({ id }) => [{ kind: "frame", id: id! }, [frame({ text: id })]]);
  const [first, second] = [kernelEngine(shared), kernelEngine(shared)];
  const request = { do: "edit", text: "", set: [] } as const;
  const answers = await Promise.all([first, second, first].map((engine) => engine.ask({ ...request, set: [] })));
  assert.equal(new Set(answers.map(({ header }) => header.text)).size, 3);
});

test("a closed engine fails what waits", async () => {
  const silent = model("kernel", () => [{ kind: "engine", base64: null }, []]);
  const engine = kernelEngine(silent);
  const asked = engine.ask({ do: "describe" });
  engine.close();
  await assert.rejects(asked, /was closed/);
});

test("without WebAssembly the kernel runs", async () => {
  const without = model("auto", () => [{ kind: "engine", base64: null }, []]);
  assert.equal((await engines(without, () => {}))().kind, "kernel");
});
