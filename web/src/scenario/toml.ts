// The page's reader of TOML: values with the places where they are written, also of a text that is being typed. The engine decides what is
// valid; this reader answers where a key stands, what stands at the cursor, and what has which colour. A syntax error costs no more than
// the rest of its line.

export type Path = (string | number)[];
export type Value = string | number | boolean | Value[] | Table;
export interface Table {
  [key: string]: Value;
}

/** A part of the text, from the first character to the one behind the last. */
export interface Span {
  from: number;
  to: number;
}

/** A key's name, a value, or the place, empty or blank, where one belongs. */
export interface Spot extends Span {
  kind: "header" | "key" | "value";
  /** Of a key or header: the table that it is in, with the segments before this one. Of a value: the path of its key. */
  path: Path;
  /** Of a header: whether it begins with `[[`. */
  many?: boolean;
}

/** A piece of the text that the editor tells from others. */
export interface Mark extends Span {
  kind: "Comment" | "Header" | "Key" | "String" | "Atom";
}

/** Where a key is written. */
export interface Entry {
  path: Path;
  key: Span;
  value: Span;
}

export interface Reading {
  values: Table;
  entries: Entry[];
  spots: Spot[];
  /** In the order of the text. */
  marks: Mark[];
  /** The headers of tables, in order; the empty path is the text before the first header. */
  headers: { path: Path; span: Span }[];
}

export const isTable = (value: Value | undefined): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const table = (): Table => Object.create(null) as Table;

/** The value at `path`, if there is one. */
export function valueAt(root: Value | undefined, path: Path): Value | undefined {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value)) value = typeof step === "number" ? value[step] : undefined;
    else if (isTable(value)) value = Object.hasOwn(value, step) ? value[step] : undefined;
    else return undefined;
  }
  return value;
}

/** `path` as messages and settings write it, such as `flow.0.rwnd`. */
export const dotted = (path: Path): string =>
  path
    .map((step) => (typeof step === "number" || /^[\w-]+$/.test(step) ? String(step) : JSON.stringify(step)))
    .join(".");

const BARE = /[A-Za-z0-9_-]/;
/** A line that begins a key or a header, at which an unclosed list or table ends. */
const FRESH_LINE = /^[ \t]*(?:[\w.\-"']+[ \t]*=|\[\[?[A-Za-z_][\w.\-"' ]*\]?\]?[ \t]*(?:#.*)?$)/;
const ESCAPES: Record<string, string> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\x1b",
  '"': '"',
  "\\": "\\",
};

/** Reads `text`; never throws. */
export function read(text: string): Reading {
  return new Reader(text).document();
}

class Reader {
  private at = 0;
  private readonly root = table();
  private readonly entries: Entry[] = [];
  private readonly spots: Spot[] = [];
  private readonly marks: Mark[] = [];
  private readonly headers: Reading["headers"] = [{ path: [], span: { from: 0, to: 0 } }];
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  document(): Reading {
    let path: Path = [];
    while (this.at < this.text.length) {
      const start = this.at;
      this.blanks();
      if (this.peek() === "[") path = this.header() ?? path;
      else if (this.peek() === "#" || this.atLineEnd()) {
        if (this.atLineEnd()) this.spots.push({ kind: "key", path, from: this.at, to: this.at });
      } else this.pair(path);
      this.line();
      if (this.at === start) this.at += 1;
    }
    if (this.text === "" || this.text.endsWith("\n")) {
      this.spots.push({ kind: "key", path, from: this.text.length, to: this.text.length });
    }
    const { root: values, entries, spots, marks, headers } = this;
    return { values, entries, spots, marks, headers };
  }

  private peek(): string {
    return this.text.charAt(this.at);
  }

  private atLineEnd(): boolean {
    return this.at >= this.text.length || this.peek() === "\n" || this.text.startsWith("\r\n", this.at);
  }

  private blanks(): void {
    while (this.peek() === " " || this.peek() === "\t") this.at += 1;
  }

  private mark(kind: Mark["kind"], from: number): void {
    if (from < this.at) this.marks.push({ kind, from, to: this.at });
  }

  /** Skips blanks and a comment. */
  private comment(): void {
    this.blanks();
    const from = this.at;
    if (this.peek() !== "#") return;
    while (!this.atLineEnd()) this.at += 1;
    this.mark("Comment", from);
  }

  /** Skips to the beginning of the next line. */
  private line(): void {
    this.comment();
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end + 1;
  }

  /** Skips white space, line ends and comments; false at a line that begins something new. */
  private gap(): boolean {
    for (;;) {
      this.comment();
      if (this.at >= this.text.length) return false;
      if (!this.atLineEnd()) return true;
      const next = this.text.indexOf("\n", this.at) + 1;
      const end = this.text.indexOf("\n", next);
      if (FRESH_LINE.test(this.text.slice(next, end < 0 ? undefined : end).replace(/\r$/, ""))) return false;
      this.at = next;
    }
  }

  /** Reads `[a.b]` or `[[a.b]]` and opens its table. */
  private header(): Path | null {
    const from = this.at;
    const many = this.text.startsWith("[[", this.at);
    this.at += many ? 2 : 1;
    const names = this.names("header", [], many);
    this.at += /^[ \t]*\]{0,2}/.exec(this.text.slice(this.at))![0].length;
    const to = this.at;
    this.mark("Header", from);
    if (names.length === 0) return null;
    const path: Path = [];
    let inside: Table = this.root;
    names.forEach((name, index) => {
      path.push(name);
      const last = index === names.length - 1;
      let value = Object.hasOwn(inside, name) ? inside[name] : undefined;
      if (value === undefined || (!isTable(value) && !Array.isArray(value))) {
        value = last && many ? [] : table();
        inside[name] = value;
      }
      if (Array.isArray(value)) {
        if (last && many) value.push(table());
        if (value.length === 0) value.push(table());
        path.push(value.length - 1);
        const item = value[value.length - 1];
        inside = isTable(item) ? item : table();
      } else inside = value;
    });
    this.headers.push({ path, span: { from, to } });
    return path;
  }

  /** Reads `a.b.c`: the names of a key or header, and a spot for each. */
  private names(kind: "key" | "header", base: Path, many?: boolean): string[] {
    const names: string[] = [];
    for (;;) {
      this.blanks();
      const from = this.at;
      const name = this.name();
      const spot: Spot = { kind, path: [...base, ...names], from, to: this.at };
      this.spots.push(many === undefined ? spot : { ...spot, many });
      if (name === null) return names;
      if (kind === "key") this.mark("Key", from);
      names.push(name);
      const end = this.at;
      this.blanks();
      if (this.peek() !== ".") {
        this.at = end;
        return names;
      }
      this.at += 1;
    }
  }

  private name(): string | null {
    const quote = this.peek();
    if (quote === '"' || quote === "'") return this.string();
    const from = this.at;
    while (this.at < this.text.length && BARE.test(this.peek())) this.at += 1;
    return this.at > from ? this.text.slice(from, this.at) : null;
  }

  /** Reads `key = value` in the table at `base`. */
  private pair(base: Path): boolean {
    const from = this.at;
    const names = this.names("key", base);
    if (names.length === 0) return false;
    const key = { from, to: this.at };
    const path = [...base, ...names];
    this.blanks();
    if (this.peek() !== "=") return true;
    this.at += 1;
    const value = this.value(path);
    this.entries.push({ path, key, value: value.span });
    if (value.value !== undefined) this.put(path, value.value);
    return true;
  }

  private put(path: Path, value: Value): void {
    let inside: Value = this.root;
    for (const [index, step] of path.entries()) {
      const last = index === path.length - 1;
      if (Array.isArray(inside) && typeof step === "number") {
        if (last) inside[step] = value;
        inside = inside[step] as Value;
      } else if (isTable(inside)) {
        if (last || !Object.hasOwn(inside, step)) inside[step] = last ? value : table();
        inside = inside[step] as Value;
      } else return;
    }
  }

  /** Reads a value; `undefined` if it is missing or cannot be read. */
  private value(path: Path): { value: Value | undefined; span: Span } {
    this.blanks();
    const from = this.at;
    let value: Value | undefined;
    if (this.peek() === "[") value = this.list(path);
    else if (this.peek() === "{") value = this.inline(path);
    else {
      value = this.scalar();
      this.spots.push({ kind: "value", path, from, to: this.at });
    }
    return { value, span: { from, to: this.at } };
  }

  private scalar(): Value | undefined {
    const from = this.at;
    if (this.peek() === '"' || this.peek() === "'") {
      const text = this.string();
      this.mark("String", from);
      return text;
    }
    while (this.at < this.text.length && !/[\s,\]}#]/.test(this.peek())) this.at += 1;
    const word = this.text.slice(from, this.at);
    this.mark("Atom", from);
    if (word === "true" || word === "false") return word === "true";
    if (/^[+-]?inf$/.test(word)) return word.startsWith("-") ? -Infinity : Infinity;
    if (/^[+-]?nan$/.test(word)) return NaN;
    const plain = word.replaceAll("_", "").replace(/^\+/, "");
    if (/^(0x[\da-f]+|0o[0-7]+|0b[01]+|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(plain)) return Number(plain);
    return word === "" ? undefined : word;
  }

  /** Reads a string, at most to the end of its line unless its quotes are triple. */
  private string(): string {
    const quote = this.peek();
    const long = this.text.startsWith(quote.repeat(3), this.at);
    const quotes = long ? quote.repeat(3) : quote;
    this.at += quotes.length;
    if (long) this.at += /^(\r?\n)?/.exec(this.text.slice(this.at, this.at + 2))![0].length;
    let value = "";
    while (long ? this.at < this.text.length : !this.atLineEnd()) {
      if (this.text.startsWith(quotes, this.at) && !(long && this.text.startsWith(quotes, this.at + 1))) {
        this.at += quotes.length;
        return value;
      }
      const char = this.peek();
      this.at += 1;
      value += char === "\\" && quote === '"' ? this.escape(long) : char;
    }
    return value;
  }

  /** The character that an escape stands for; the backslash has been read. In long strings it can stand before a line end. */
  private escape(long: boolean): string {
    if (this.at >= this.text.length || (!long && this.atLineEnd())) return "";
    const char = this.peek();
    const digits = { x: 2, u: 4, U: 8 }[char];
    if (digits !== undefined) {
      const code = Number.parseInt(this.text.slice(this.at + 1, this.at + 1 + digits), 16);
      this.at = Math.min(this.at + 1 + digits, this.text.length);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    }
    if (/\s/.test(char)) {
      while (this.at < this.text.length && /\s/.test(this.peek())) this.at += 1;
      return "";
    }
    this.at += 1;
    return ESCAPES[char] ?? char;
  }

  private list(path: Path): Value {
    const items: Value[] = [];
    this.put(path, items);
    this.at += 1;
    while (this.gap()) {
      if (this.peek() === "]") {
        if (items.length === 0) this.spots.push({ kind: "value", path: [...path, 0], from: this.at, to: this.at });
        this.at += 1;
        break;
      }
      const before = this.at;
      const index = items.length;
      const { value } = this.value([...path, index]);
      if (value !== undefined) items[index] = value;
      if (!this.gap()) break;
      if (this.peek() === ",") {
        this.at += 1;
        this.hole({ kind: "value", path: [...path, items.length] });
      } else if (this.peek() !== "]" && this.at === before) this.at += 1;
    }
    return items;
  }

  private inline(path: Path): Value {
    this.put(path, table());
    this.at += 1;
    this.hole({ kind: "key", path });
    while (this.gap()) {
      if (this.peek() === "}") {
        this.at += 1;
        break;
      }
      const before = this.at;
      if (this.peek() === ",") {
        this.at += 1;
        this.hole({ kind: "key", path });
      } else if (!this.pair(path) && this.at === before) this.at += 1;
    }
    return valueAt(this.root, path) ?? table();
  }

  /** Adds a spot for the blanks that follow if nothing else does. */
  private hole(spot: Pick<Spot, "kind" | "path">): void {
    const blanks = this.text.slice(this.at).match(/^[ \t]*/)?.[0].length ?? 0;
    const end = this.at + blanks;
    if (end >= this.text.length || "}]\n\r#".includes(this.text.charAt(end)))
      this.spots.push({ ...spot, from: this.at, to: end });
  }
}

/** What stands at `offset`, or belongs there; `null` in comments and behind values. */
export function spotAt(reading: Reading, offset: number): Spot | null {
  let found: Spot | null = null;
  for (const spot of reading.spots) {
    if (spot.from <= offset && offset <= spot.to && (found === null || spot.to - spot.from <= found.to - found.from))
      found = spot;
  }
  return found;
}
