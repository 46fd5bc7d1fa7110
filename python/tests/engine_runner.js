// Runs scenarios in the compiled engine: the same code in Node and in a page.
"use strict";

/** Makes the engine: a function from a request to {header, columns}. */
async function engineOf(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
  if (WebAssembly.Module.imports(module).length > 0) throw new Error("the engine imports something");
  const { exports } = await WebAssembly.instantiate(module, {});
  return (request) => {
    const bytes = new TextEncoder().encode(typeof request === "string" ? request : JSON.stringify(request));
    const at = exports.allocate(bytes.length) >>> 0;
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    const answer = exports.handle() >>> 0;
    const frame = new Uint8Array(exports.memory.buffer, answer, exports.result_length() >>> 0).slice();
    exports.release();
    const length = new DataView(frame.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(frame.subarray(4, 4 + length)));
    return { header, columns: frame.subarray(Math.ceil((4 + length) / 8) * 8) };
  };
}

const CRC = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

/** Continues the CRC-32 of earlier bytes. */
function crc32(bytes, before) {
  let crc = ~before;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

const WIDTHS = { f64: 8, u32: 4, u8: 1 };

/** Runs a scenario in pieces: its summary, its digest, and for each column the CRC of the values of all pieces. */
function run(ask, text, { until, events }) {
  const opened = ask({ do: "open", text }).header;
  if (opened.error) throw new Error(opened.error.text);
  const crcs = {};
  let calls = 0;
  let end = 0;
  for (;;) {
    calls += 1;
    end += until ?? Infinity;
    const { header, columns } = ask({ do: "advance", run: opened.run, until: until ? end : null, events: events ?? null });
    if (header.error) throw new Error(header.error.text);
    for (const [name, table] of Object.entries(header.tables)) {
      for (const column of table.columns) {
        const bytes = columns.subarray(column.offset, column.offset + table.rows * WIDTHS[column.type]);
        const key = `${name}.${column.name}`;
        crcs[key] = crc32(bytes, crcs[key] ?? 0);
      }
    }
    if (header.done) break;
    if (header.time < end) end = header.time;
  }
  const { summary, digest } = ask({ do: "finish", run: opened.run }).header;
  return { summary, digest, crcs, calls };
}

/** Runs all scenarios, each {text, until, events}, by name. */
async function runAll(base64, scenarios) {
  const ask = await engineOf(base64);
  return Object.fromEntries(Object.entries(scenarios).map(([name, { text, ...pieces }]) => [name, run(ask, text, pieces)]));
}

// Node: `node engine_runner.js engine.js scenarios.json` prints the results.
if (typeof module !== "undefined") {
  module.exports = { engineOf };
  if (require.main === module) {
    const { readFileSync } = require("node:fs");
    const [script, file] = process.argv.slice(2).map((name) => readFileSync(name, "utf8"));
    runAll(/"(.*)"/.exec(script)[1], JSON.parse(file)).then((results) => process.stdout.write(JSON.stringify(results)));
  }
}
