// The native engine, for tests: a Python process that answers requests as the page's engine does.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Answers, decode, type Engine, type Frame, type Request } from "../engine/protocol.ts";

const PROGRAM = `
import base64, sys
from ackclock._core import Laboratory
laboratory = Laboratory()
for line in sys.stdin:
    print(base64.b64encode(laboratory.handle(line)).decode(), flush=True)
`;

const own = new URL("../../../.venv/bin/python", import.meta.url);

/** A Python that has Ackclock. */
export const python = process.env["PYTHON"] ?? (existsSync(own) ? own.pathname : "python3");

/** Starts an engine. */
export function nativeEngine(): Engine {
  const child = spawn(python, ["-c", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line));
  const fail = (reason: string) => {
    for (const { reject } of waiting.splice(0))
      reject(new Error(`${python}: ${reason}; build Ackclock with: make core`));
  };
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code) => fail(`ended with ${code}`));
  return {
    kind: "kernel",
    ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
      const answer = new Promise<string>((resolve, reject) => waiting.push({ resolve, reject }));
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return answer.then((line) => decode<Answers[R["do"]]>(new Uint8Array(Buffer.from(line, "base64"))));
    },
    close: () => void child.stdin.end(),
  };
}
