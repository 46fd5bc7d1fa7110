// A further flow at the end of a scenario's text.
import { flowsOf } from "../scenario/state.ts";
import { isTable, type Table } from "../scenario/toml.ts";

/** The text with one more flow, which has every default. */
export function withFlow(text: string, values: Table): string {
  const flows = flowsOf(values);
  const names = flows.map((flow, index) =>
    isTable(flow) && typeof flow["name"] === "string" ? flow["name"] : `flow${index}`,
  );
  let number = flows.length;
  while (names.includes(`flow${number}`)) number++;
  // A single table becomes the first of a list.
  const listed = text.replace(/^([ \t]*)\[[ \t]*flow[ \t]*\](?=[ \t]*(#.*)?$)/m, "$1[[flow]]");
  return `${listed.trimEnd()}\n\n[[flow]]\nname = "flow${number}"\n`;
}
