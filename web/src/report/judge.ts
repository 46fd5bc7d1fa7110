// Verdicts: the rules of `ackclock.papers.verdicts` for the runs of this page. A test compares both on every claim.
//
// They are written a second time, because the statistics of the first are Python and SciPy. They need no p-values here: those
// belong to the whole family of a paper's claims, which a page does not judge again.
import type { Claim, Row, Sampling, Verdict } from "./data.ts";
import { BOUNDS, type Interval, interval, mean, ratio } from "./statistics.ts";

export type Why = "reversed" | "no difference" | "apart" | "beaten";
type Relation = "above" | "overlaps" | "ratio" | "value" | "best";

/** One comparison of two variants, or of a value with limits. */
export interface Comparison {
  /** Values of the labels that the claim leaves open. */
  where: { [label: string]: string };
  left: string;
  right: string;
  relation: Relation;
  /** Difference relative to the right variant, ratio, or value; null without runs. */
  difference: Interval | null;
  verdict: Verdict;
  why: Why | null;
}

/** A claim judged on one column. */
export interface Judgement {
  verdict: Verdict;
  why: Why | null;
  sampling: Sampling | "mixed";
  comparisons: Comparison[];
  /** Mean and interval of each variant of each cell, best first. */
  measured: { where: { [label: string]: string }; variants: [name: string, mean: Interval][] }[];
}

interface Sample {
  where: [label: string, value: string][];
  values: Map<string, Map<number, number>>;
  sampling: Map<string, Sampling>;
}

const WHYS: Why[] = ["reversed", "apart", "beaten", "no difference"];

/** Judges a claim on a column; rows on the exact path do not count. */
export function judge(
  claim: Claim,
  metric: string,
  rows: readonly Row[],
  labels: readonly string[],
  confidence = 0.95,
): Judgement {
  // Only common seeds pair the cells of one axis; an average over cells needs each cell's own seeds.
  const other = claim.kind === "equal" ? "own" : "common";
  const own = rows.filter(
    (row) =>
      row[metric] !== null &&
      row[metric] !== undefined &&
      row.seeds !== other &&
      row.paths !== "exact" &&
      Object.entries(claim.where).every(([label, value]) => row[label] === value),
  );
  const cells = collect(claim, metric, own, labels);
  const pairs = cells.flatMap((cell) => pairsOf(claim, [...cell.values.keys()]).map((pair) => ({ cell, pair })));
  const share = 1 - (1 - confidence) / Math.max(1, pairs.length);
  const comparisons = pairs.map(({ cell, pair }) => compare(claim, metric, cell, pair, share));
  const over = new Set(cells.flatMap((cell) => [...cell.sampling.values()]));
  over.delete("exact");
  return {
    ...conclude(claim, comparisons),
    sampling: over.size > 1 ? "mixed" : ([...over][0] ?? "exact"),
    comparisons,
    measured: cells.map((cell) => ({
      where: Object.fromEntries(cell.where),
      variants: ranking(cell, metric, confidence),
    })),
  };
}

function collect(claim: Claim, metric: string, rows: readonly Row[], labels: readonly string[]): Sample[] {
  const free = labels.filter((label) => !(label in claim.where) && !claim.pool.includes(label) && label !== claim.axis);
  interface Gathered {
    key: [string, string][];
    drawn: Map<string, Map<number, number[]>>;
    exact: Map<string, number[]>;
    sampling: Map<string, Sampling>;
  }
  const gathered = new Map<string, Gathered>();
  for (const row of rows) {
    const key = free.map((label): [string, string] => [label, String(row[label])]);
    const name = JSON.stringify(key);
    let cell = gathered.get(name);
    if (!cell) {
      cell = { key, drawn: new Map(), exact: new Map(), sampling: new Map() };
      gathered.set(name, cell);
    }
    const variant = String(row[claim.axis]);
    const value = Number(row[metric]);
    cell.sampling.set(variant, row.sampling);
    if (row.sampling === "exact") {
      cell.exact.set(variant, [...(cell.exact.get(variant) ?? []), value]);
    } else {
      const units = cell.drawn.get(variant) ?? new Map<number, number[]>();
      cell.drawn.set(variant, units.set(row.unit, [...(units.get(row.unit) ?? []), value]));
    }
  }
  // The value of a formula is paired with every run.
  const units = new Set(
    [...gathered.values()].flatMap((cell) => [...cell.drawn.values()].flatMap((of) => [...of.keys()])),
  );
  if (!units.size) units.add(0);
  for (const cell of gathered.values()) {
    for (const [variant, values] of cell.exact) {
      cell.drawn.set(variant, new Map([...units].map((unit) => [unit, values])));
    }
  }
  // A label with one value in all cells is omitted from their names.
  const varied = free.filter((_, at) => new Set([...gathered.values()].map((cell) => cell.key[at]![1])).size > 1);
  return [...gathered.values()].map((cell) => ({
    where: cell.key.filter(([label]) => varied.includes(label)),
    sampling: cell.sampling,
    values: new Map(
      [...cell.drawn].map(([variant, of]) => [variant, new Map([...of].map(([unit, values]) => [unit, mean(values)]))]),
    ),
  }));
}

type Pair = [left: string, right: string, relation: Relation];

function combinations(names: readonly string[]): [string, string][] {
  return names.flatMap((left, at) => names.slice(at + 1).map((right): [string, string] => [left, right]));
}

function pairsOf(claim: Claim, variants: readonly string[]): Pair[] {
  switch (claim.kind) {
    case "bound":
      return [[claim.of, claim.to, claim.to ? "ratio" : "value"]];
    case "best":
      return variants.filter((name) => name !== claim.of).map((name) => [claim.of, name, "best"]);
    case "equal":
      return combinations(variants).map(([left, right]) => [left, right, "overlaps"]);
    case "order": {
      const groups = claim.expected;
      const above = (lefts: readonly string[], rights: readonly string[]) =>
        lefts.flatMap((left) => rights.map((right): Pair => [left, right, "above"]));
      // Comparing neighbouring groups is enough, because an order is transitive.
      return [
        ...above(claim.lead, groups[0] ?? claim.rest),
        ...groups.flatMap((group, at) => [
          ...combinations(group).map(([left, right]): Pair => [left, right, "overlaps"]),
          ...above(group, groups[at + 1] ?? claim.rest),
        ]),
      ];
    }
  }
}

function compare(claim: Claim, metric: string, cell: Sample, pair: Pair, confidence: number): Comparison {
  const [left, right, relation] = pair;
  const made = { where: Object.fromEntries(cell.where), left, right, relation };
  const notRun: Comparison = { ...made, difference: null, verdict: "not run", why: null };
  const of = cell.values.get(left);
  if (relation === "value") {
    if (!of?.size) return notRun;
    const found = interval(ordered(of), cell.sampling.get(left)!, confidence, BOUNDS[metric]);
    return { ...made, difference: found, ...(found.note ? UNKNOWN : withinLimits(claim, found)) };
  }
  const to = cell.values.get(right);
  const units = of && to ? [...of.keys()].filter((unit) => to.has(unit)).sort((a, b) => a - b) : [];
  if (!of || !to || !units.length) return notRun;
  let a = units.map((unit) => of.get(unit)!);
  let b = units.map((unit) => to.get(unit)!);
  // The advantage of the other variant, relative to the best one.
  if (claim.sense === "highest") [a, b] = [b, a];
  // A formula takes the sampling of the other variant.
  const sampling = [cell.sampling.get(left)!, cell.sampling.get(right)!].filter((each) => each !== "exact").sort()[0];
  const found = ratio(a, b, sampling ?? "exact", confidence);
  if (found.note) return { ...made, difference: found, ...UNKNOWN };
  if (relation === "ratio") return { ...made, difference: found, ...withinLimits(claim, found) };
  const difference = { ...found, mean: found.mean - 1, low: found.low - 1, high: found.high - 1 };
  return { ...made, difference, ...RULES[relation](found, 1 + claim.tolerance) };
}

const ordered = (values: Map<number, number>) =>
  [...values.keys()].sort((a, b) => a - b).map((unit) => values.get(unit)!);
const within = (found: Interval, low: number, high: number) => low <= found.low && found.high <= high;
const apart = (found: Interval, low: number, high: number) => found.high < low || found.low > high;

interface Decided {
  verdict: Verdict;
  why: Why | null;
}
const UNKNOWN: Decided = { verdict: "cannot tell", why: null };
const HOLDS: Decided = { verdict: "holds", why: null };
const fails = (why: Why | null): Decided => ({ verdict: "does not hold", why });

const RULES: { [relation in "above" | "overlaps" | "best"]: (over: Interval, most: number) => Decided } = {
  above(over, least) {
    if (over.low > least) return HOLDS;
    if (over.high >= least) return UNKNOWN;
    if (over.high < 1 / least) return fails("reversed");
    return fails(within(over, 1 / least, least) ? "no difference" : null);
  },
  overlaps(over, most) {
    if (within(over, 1 / most, most)) return HOLDS;
    return apart(over, 1 / most, most) ? fails("apart") : UNKNOWN;
  },
  best(better, most) {
    if (better.high <= most) return HOLDS;
    return better.low > most ? fails("beaten") : UNKNOWN;
  },
};

function withinLimits(claim: Claim, found: Interval): Decided {
  const low = claim.low ?? -Infinity;
  const high = claim.high ?? Infinity;
  if (within(found, low, high)) return HOLDS;
  return apart(found, low, high) ? fails("apart") : UNKNOWN;
}

function ranking(cell: Sample, metric: string, confidence: number): [string, Interval][] {
  return [...cell.values]
    .map(([variant, values]): [string, Interval] => [
      variant,
      interval(ordered(values), cell.sampling.get(variant)!, confidence, BOUNDS[metric]),
    ])
    .sort((a, b) => b[1].mean - a[1].mean);
}

function conclude(claim: Claim, comparisons: readonly Comparison[]): Decided {
  if (comparisons.every((comparison) => comparison.verdict === "not run")) return { verdict: "not run", why: null };
  const cells = new Map<string, Verdict[]>();
  for (const { where, verdict } of comparisons) {
    const place = JSON.stringify(where);
    cells.set(place, [...(cells.get(place) ?? []), verdict]);
  }
  if (claim.quantifier === "most" || (claim.quantifier === "any" && cells.size < comparisons.length)) {
    return { verdict: ofCells(claim, [...cells.values()]), why: null };
  }
  const all = claim.quantifier === "all";
  const wanted: Verdict = all ? "does not hold" : "holds";
  const deciding = comparisons.filter((comparison) => comparison.verdict === wanted);
  const unclear = comparisons.filter(({ verdict }) => verdict === "cannot tell" || verdict === "not run");
  const chosen = deciding.length ? deciding : unclear.length ? unclear : comparisons;
  return {
    verdict: deciding.length ? wanted : unclear.length ? "cannot tell" : all ? "holds" : "does not hold",
    why: WHYS.find((why) => chosen.some((comparison) => comparison.why === why)) ?? null,
  };
}

function ofCells(claim: Claim, cells: readonly Verdict[][]): Verdict {
  const bad = cells.filter((verdicts) => verdicts.includes("does not hold")).length;
  const sure = cells.filter((verdicts) => verdicts.every((verdict) => verdict === "holds")).length;
  const enough = claim.quantifier === "any" ? 1 : Math.floor(cells.length / 2) + 1;
  return sure >= enough ? "holds" : cells.length - bad < enough ? "does not hold" : "cannot tell";
}
