// Judges claims from standard input, one JSON document, for the test that compares both implementations of the rules.
import { readFileSync } from "node:fs";
import type { Claim, Row } from "./data.ts";
import { judge } from "./judge.ts";

interface Case {
  claim: Claim;
  metric: string;
  rows: Row[];
  labels: string[];
}

// JSON has no infinity.
const said = (_: string, value: unknown) => (value === Infinity ? "inf" : value === -Infinity ? "-inf" : value);
const cases: Case[] = JSON.parse(readFileSync(0, "utf8"));
const judged = cases.map(({ claim, metric, rows, labels }) => judge(claim, metric, rows, labels));
process.stdout.write(JSON.stringify(judged, said));
