// What a lesson is. Its text is a tree made when the page is built, so that the page shows it without HTML.
import type { Edit } from "../engine/protocol.ts";
import type { Knob } from "../playground/knobs.ts";

/** A piece of a line. */
export type Inline =
  | string
  | { kind: "em" | "strong" | "code"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] };

/** A paragraph or a list, and the sliders below it. */
export type Block = ({ kind: "paragraph"; children: Inline[] } | { kind: "list"; items: Inline[][] }) & {
  sliders?: Knob["id"][];
};

/** A run that the lesson compares with its scenario. */
export interface Compared {
  name: string;
  /** Changes of the scenario's text. */
  edits: Edit[];
}

/** A lesson. */
export interface Lesson {
  /** Name of its folder, and of its link: `#lesson=ID`. */
  id: string;
  title: string;
  text: Block[];
  question: Block[];
  answer: Block[];
  /** The scenario, as TOML. */
  scenario: string;
  /** Name of the scenario's own run beside those compared with it. */
  base: string;
  compare: Compared[];
  /** The charts to show. */
  charts: string[];
  /** The flows whose curves they show; by default the scenario's first ones. */
  flows: string[];
}

/** The id in a fragment such as `#lesson=slow-start`, and the lesson of this id. */
export function named(lessons: Lesson[], fragment: string): { id: string | null; lesson: Lesson | undefined } {
  const id = new URLSearchParams(fragment.replace(/^#/, "")).get("lesson");
  return { id, lesson: lessons.find((lesson) => lesson.id === id) };
}

/** The words of pieces of a line. */
export const plain = (pieces: Inline[]): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : plain(piece.children))).join("");

/** The words of a block. */
export const words = (block: Block): string =>
  block.kind === "paragraph" ? plain(block.children) : block.items.map(plain).join(" ");
