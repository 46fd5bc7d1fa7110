// Menus of the labels in which the cells of a figure differ.
import { h } from "../dom.ts";
import type { Cell } from "./data.ts";

/** Makes the menus; `changed` is called after every choice. */
export function cellChoice(places: readonly number[], cells: readonly Cell[], changed: () => void) {
  const labelOf = (place: number, label: string): string => cells[place]!.labels[label]!;
  const labels = Object.keys(cells[places[0]!]!.labels).filter(
    (label) => new Set(places.map((place) => labelOf(place, label))).size > 1,
  );
  const menus = labels.map((label) => {
    const values = [...new Set(places.map((place) => labelOf(place, label)))].map((value) =>
      h("option", { value }, value),
    );
    const select = h("select", {}, values, h("option", { value: "*" }, "all"));
    select.addEventListener("change", () => {
      follow(label);
      changed();
    });
    return { label, select };
  });
  const agrees = (place: number, { label, select }: (typeof menus)[number]) =>
    select.value === "*" || select.value === labelOf(place, label);
  const chosen = (): number[] => places.filter((place) => menus.every((menu) => agrees(place, menu)));

  /** Not every combination was run: the other menus follow the one that was changed. */
  function follow(label: string): void {
    if (chosen().length) return;
    const changed = menus.find((menu) => menu.label === label)!;
    const agreement = (place: number) => menus.filter((menu) => agrees(place, menu)).length;
    const near = places.filter((place) => agrees(place, changed)).sort((a, b) => agreement(b) - agreement(a))[0]!;
    for (const { label, select } of menus) if (select.value !== "*") select.value = labelOf(near, label);
  }
  return {
    fields: menus.map(({ label, select }) => h("label", {}, h("span", {}, label), select)),
    chosen,
    /** The labels of a cell that have a menu. */
    name: (cell: number): string => labels.map((label) => `${label} ${labelOf(cell, label)}`).join(", "),
  };
}
