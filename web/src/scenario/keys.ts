// Keys that the code names, checked against the schema when the types are: a key that is renamed there is an error here.

import type { Flow, Scenario } from "./generated/scenario.ts";

/** A key of the file. */
export const fileKey = <Key extends keyof Scenario>(key: Key): Key => key;

/** A key of a flow. */
export const flowKey = <Key extends keyof Flow>(key: Key): Key => key;
