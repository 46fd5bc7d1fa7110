// Repeats the stored runs of a live report with the module that was built, for the test that compares them.
// `node stored.cli.ts ENGINE.JS` reads the report's data from standard input, and writes the rows of each cell.
import { readFileSync } from "node:fs";
import { instantiate, unpack } from "../engine/instance.ts";
import { type Answers, decode, type Engine, type Frame, type Request } from "../engine/protocol.ts";
import { type LiveData, textOf } from "./data.ts";
import { simulate } from "./simulate.ts";

const base64 = /"([A-Za-z0-9+/=]+)"/.exec(readFileSync(process.argv[2]!, "utf8"))![1]!;
const handle = await instantiate(await WebAssembly.compile(await unpack(base64)));
const engine: Engine = {
  kind: "wasm",
  async ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
    return decode(handle(JSON.stringify(request)));
  },
  close() {},
};
const data: LiveData = JSON.parse(readFileSync(0, "utf8"));
const found = [];
for (const cell of data.cells) {
  const measures = data.measures[cell.measures]!;
  const done = await simulate(engine, { text: textOf(data, cell), measures, record: [] }, new AbortController().signal);
  found.push({ digest: done!.digest, rows: done!.rows });
}
process.stdout.write(JSON.stringify(found));
