// Values that can be lists of models, such as the delays of a link, which add up.
import type { Describe, Edit } from "../engine/protocol.ts";
import type { Menu, MenuState } from "../scenario/options.ts";
import { written } from "../scenario/schema.ts";
import { place } from "../scenario/state.ts";
import { dotted, type Table, valueAt } from "../scenario/toml.ts";

/** The menus for a value, each with its index: one, or one for each model of a list, and the length of the list (0 for none). */
export function eachOf(menu: Menu, values: Table, index: number): [menu: Menu, index: number, count: number][] {
  const value = valueAt(values, place(menu.path, values, index));
  if (!Array.isArray(value)) return [[menu, index, 0]];
  return value.map((_, at) => [{ ...menu, path: [...menu.path, null] }, at, value.length]);
}

/** The edits that add a model to a value that can be a list. */
export function addModel(menu: Menu, { path, option }: MenuState, values: Table, describe: Describe): Edit[] {
  const none = describe.relations.axes[menu.axis ?? ""]?.none;
  const more = menu.options.find(({ name }) => name !== none)?.name;
  const list = path.slice(0, -1);
  const before = valueAt(values, list);
  if (typeof path.at(-1) === "number" && Array.isArray(before))
    return [[dotted([...list, before.length]), written(more)]];
  const own = valueAt(values, path) ?? menu.default;
  return [[dotted(path), written(option?.name === none ? [more] : [own, more])]];
}
