// The model of a widget, as anywidget gives it to the front end (https://anywidget.dev/en/afm/).

/** What the sliders, menus and charts of the widget are. */
export interface Options {
  sliders: { key: string; low: string | number | null; high: string | number | null }[];
  menus: string[];
  charts: string[];
  height: number | null;
  engine: "auto" | "kernel";
}

/** The traits that front end and kernel share. */
export interface Traits {
  /** The scenario as a file. */
  text: string;
  /** The scenario with which the widget began. */
  _first: string;
  _options: Options;
  /** The last run that reached its end. */
  finished: { hash?: string; trace_hash?: string };
}

/** A message of the kernel. */
export type Message = { kind: "engine"; base64: string | null } | { kind: "frame"; id: string };
type OnMessage = (message: Message, buffers: DataView[]) => void;

/** The model. */
export interface Model {
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  set<Name extends keyof Traits>(name: Name, value: Traits[Name]): void;
  save_changes(): void;
  send(content: unknown, callbacks?: unknown, buffers?: ArrayBuffer[]): void;
  on(event: "msg:custom", listener: OnMessage): void;
  on(event: `change:${keyof Traits}`, listener: () => void): void;
  off(event: "msg:custom", listener: OnMessage): void;
  off(event: `change:${keyof Traits}`, listener: () => void): void;
}
