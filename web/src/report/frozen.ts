// Reads scenarios as the engine writes them with every default: tables of lines `key = value`, and nothing else.

/** A table's values as they are written. */
export type Written = { [key: string]: string };

/** What the page needs of a scenario. */
export interface Frozen {
  top: Written;
  flows: Written[];
  links: Written[];
}

/** Reads a scenario with every default. */
export function readFrozen(text: string): Frozen {
  const found: Frozen = { top: {}, flows: [], links: [] };
  let table: Written | undefined = found.top;
  for (const line of text.split("\n")) {
    if (line.startsWith("[")) {
      table = undefined;
      const into = line === "[[flow]]" ? found.flows : line === "[[topology.link]]" ? found.links : undefined;
      if (into) {
        table = {};
        into.push(table);
      }
      continue;
    }
    const at = line.indexOf(" = ");
    if (table && at > 0) table[line.slice(0, at)] = line.slice(at + 3);
  }
  return found;
}

/** The text of a TOML string; other values as they are written. */
export function plain(written: string | undefined): string {
  if (written === undefined) return "";
  if (!written.startsWith('"')) return written;
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}

/** The value of a key in an inline table such as `{ kind = "droptail", limit = "5 packets" }`; a plain name is its kind. */
export function within(written: string | undefined, key: string): string | undefined {
  if (written === undefined) return undefined;
  if (written.startsWith('"')) return key === "kind" ? plain(written) : undefined;
  const found = new RegExp(`[{,]\\s*${key} = ("(?:[^"\\\\]|\\\\.)*"|[^,}]+)`).exec(written);
  return found ? plain(found[1]!.trim()) : undefined;
}

/**
 * Bytes of data in a packet of each flow; connections such as `page.0` have those of `page`, and flows that arrive, such as `web12`, those of
 * `web`. A table of arrivals without a name makes `flow3`, `flow4` and so on.
 */
export function payloads(text: string): (flow: string) => number {
  const sizes = new Map(
    readFrozen(text).flows.map((flow) => [
      plain(flow["name"] ?? '"flow"'),
      Number.parseInt(plain(flow["packet_size"]), 10),
    ]),
  );
  return (flow) =>
    sizes.get(flow) ?? sizes.get(flow.replace(/\.[^.]*$/, "")) ?? sizes.get(flow.replace(/\d+$/, "")) ?? Number.NaN;
}
