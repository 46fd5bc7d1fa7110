// Menus of a scenario: what can be chosen, what is chosen, and the edits that choose.

export type { Describe } from "./describe.ts";
export { choose, type Edit, setParameter } from "./edits.ts";
export { type Menu, type Option, options, type Parameter } from "./menus.ts";
export { type MenuState, type Reading, stateOf } from "./state.ts";
