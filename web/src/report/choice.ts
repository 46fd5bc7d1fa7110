// The labels in which the cells of a figure differ, and the cells that a choice of labels means.
import type { Cell } from "./data.ts";

/** The cells of a figure, by their places in the report; and what is chosen of each label, of which `ALL` is everything. */
export type Cells = ReadonlyMap<number, Cell>;
export type Chosen = { [label: string]: string };
export const ALL = "*";

/** The labels that have a menu, with their values. */
export function menusOf(cells: Cells): [label: string, values: string[]][] {
  const all = [...cells.values()].map(({ labels }) => labels);
  const labels = Object.keys(all[0]!).map((label): [string, string[]] => [
    label,
    [...new Set(all.map((of) => of[label]!))],
  ]);
  return labels.filter(([, values]) => values.length > 1);
}

const agreement = ({ labels }: Cell, chosen: Chosen): number =>
  Object.entries(chosen).filter(([label, value]) => value === ALL || value === labels[label]).length;

/** The places of the chosen cells. */
export const cellsOf = (cells: Cells, chosen: Chosen): number[] =>
  [...cells].flatMap(([place, cell]) => (agreement(cell, chosen) === Object.keys(chosen).length ? [place] : []));

/** Chooses a value. Not every combination was run: the other labels follow the one that was changed. */
export function choose(cells: Cells, before: Chosen, label: string, value: string): Chosen {
  const chosen = { ...before, [label]: value };
  if (cellsOf(cells, chosen).length) return chosen;
  const fitting = [...cells.values()].filter(({ labels }) => labels[label] === value);
  const near = fitting.sort((a, b) => agreement(b, chosen) - agreement(a, chosen))[0]!;
  return Object.fromEntries(
    Object.entries(chosen).map(([each, own]) => [each, own === ALL ? ALL : near.labels[each]!]),
  );
}
