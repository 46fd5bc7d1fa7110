// Links that hold a whole scenario: the state of a page as JSON, compressed, in the fragment of the address. A fragment never leaves the
// browser. What a link holds is data from anyone: sizes are bounded before it is unpacked, and only known members are taken.

/** What a link holds. */
export interface Shared {
  /** The scenario. */
  text: string;
  /** Scenarios of other runs to draw, with their names. */
  runs: { name: string; text: string }[];
  /** What the page shows of them, by names that the page gives: charts, flows, zoom. */
  view: Record<string, ViewValue>;
}

export type ViewValue = string | number | boolean | (string | number)[];

/** The state in a fragment, or why it cannot be read; `null` for a fragment that holds none. */
export type Unpacked = { state: Shared } | { problem: string } | null;

/** Before the version and the content: `#s=1.…`. */
const MARK = "s=";
const VERSION = "1";
/** Longest fragment; programs for messages cut longer addresses off, and some browsers do. */
export const MOST_CHARACTERS = 60_000;
/** Longest state before compression, in bytes. */
export const MOST_BYTES = 1_000_000;
/** Most further runs. */
const MOST_RUNS = 12;

/** The fragment for `state`, without `#`. Throws an error with a message for the reader if the state is too large. */
export async function encode(state: Shared): Promise<string> {
  const json = new TextEncoder().encode(
    JSON.stringify([state.text, state.runs.map(({ name, text }) => [name, text]), state.view]),
  );
  const bytes =
    json.length > MOST_BYTES
      ? null
      : await collect(stream(json).pipeThrough(new CompressionStream("deflate-raw")), MOST_BYTES);
  const fragment = bytes && `${MARK}${VERSION}.${toBase64(bytes)}`;
  if (!fragment || fragment.length > MOST_CHARACTERS) {
    const size = fragment
      ? `the link would have ${fragment.length} characters`
      : `the scenario has ${json.length} bytes`;
    throw new Error(
      `This is too long for a link: ${size}, and a link can have ${MOST_CHARACTERS}. Export the scenario as a file instead.`,
    );
  }
  return fragment;
}

/** Reads a fragment, with or without `#`. Never throws. */
export async function decode(fragment: string): Promise<Unpacked> {
  const member = fragment
    .replace(/^#/, "")
    .split("&")
    .find((part) => part.startsWith(MARK));
  if (member === undefined) return null;
  const [, version = "", content = ""] = /^s=(\d+)\.(.*)$/s.exec(member) ?? [];
  if (version === "") return { problem: "The link is damaged: its beginning cannot be read." };
  if (version !== VERSION)
    return {
      problem: `The link was made by a newer version of this page (format ${version}; this page reads ${VERSION}).`,
    };
  if (content.length > MOST_CHARACTERS)
    return { problem: `The link is too long: ${content.length} characters; at most ${MOST_CHARACTERS} are read.` };
  try {
    const bytes = await collect(
      stream(fromBase64(content)).pipeThrough(new DecompressionStream("deflate-raw")),
      MOST_BYTES,
    );
    if (!bytes) return { problem: `The link holds more than ${MOST_BYTES / 1e6} MB of text, which no scenario needs.` };
    const state = checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
    return state ? { state } : { problem: "The link holds no scenario." };
  } catch {
    return { problem: "The link is damaged: it was probably cut off when it was copied." };
  }
}

/** The known members of what a link holds. */
function checked(value: unknown): Shared | null {
  if (!Array.isArray(value)) return null;
  const [text, runs, view] = value as unknown[];
  if (typeof text !== "string") return null;
  const pairs = Array.isArray(runs) ? runs.filter(isPair).slice(0, MOST_RUNS) : [];
  const entries =
    typeof view === "object" && view !== null && !Array.isArray(view)
      ? Object.entries(view).filter(([, value]) => isViewValue(value))
      : [];
  return {
    text,
    runs: pairs.map(([name, text]) => ({ name, text })),
    view: Object.fromEntries(entries) as Shared["view"],
  };
}

const isPair = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === "string");

const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

const isViewValue = (value: unknown): value is ViewValue =>
  isScalar(value) || (Array.isArray(value) && value.every(isScalar));

const stream = (bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> => new Blob([bytes]).stream();

/** All bytes of `source`, or `null` as soon as there are more than `most`. */
async function collect(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  most: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = source.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}
