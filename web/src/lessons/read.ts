// Reads the lessons when the page is built: TOML and Markdown become plain data.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lexer, type Token, type Tokens } from "marked";
import type { Knob } from "../playground/knobs.ts";
import { written } from "../scenario/schema.ts";
import { read, type Table } from "../scenario/toml.ts";
import { type Block, type Inline, type Lesson, words } from "./lesson.ts";

/** The folder of the lessons. */
const LESSONS = fileURLToPath(new URL("../../lessons/", import.meta.url));

/** All lessons, in the order of the index. */
export function readLessons(folder = LESSONS): Lesson[] {
  const { lessons } = read(readFileSync(`${folder}index.toml`, "utf8")).values;
  return (lessons as string[]).map((id) => readLesson(folder, id));
}

/** The files of a lesson, for a build that watches them. */
function filesOf(folder: string, id: string): string[] {
  return ["lesson.md", "lesson.toml", "scenario.toml"].map((name) => `${folder}${id}/${name}`);
}

function readLesson(folder: string, id: string): Lesson {
  const [markdown, settings, scenario] = filesOf(folder, id).map((file) => readFileSync(file, "utf8"));
  const {
    title,
    base,
    charts,
    flows = [],
    sliders = {},
    compare = [],
  } = read(settings!).values as unknown as {
    title: string;
    base: string;
    charts: string[];
    flows?: string[];
    sliders?: { [knob in Knob["id"]]?: string };
    compare?: { name: string; set: Table }[];
  };
  const [text, question, answer] = parts(markdown!, `${id}/lesson.md`);
  for (const [knob, said] of Object.entries(sliders)) {
    const block = text!.find((each) => words(each).includes(said));
    if (!block) throw new Error(`${id}/lesson.toml: sliders.${knob}: no paragraph of the text has “${said}”`);
    block.sliders = [...(block.sliders ?? []), knob as Knob["id"]];
  }
  return {
    id,
    title,
    text: text!,
    question: question!,
    answer: answer!,
    scenario: scenario!,
    base,
    compare: compare.map(({ name, set }) => ({
      name,
      edits: Object.entries(set).map(([key, value]) => [key, written(value)]),
    })),
    charts,
    flows,
  };
}

/** The text, the question and the answer. */
function parts(markdown: string, file: string): Block[][] {
  const found: Block[][] = [[]];
  for (const token of lexer(markdown)) {
    if (token.type === "heading") found.push([]);
    else if (token.type !== "space") found.at(-1)!.push(block(token, file));
  }
  if (found.length !== 3) throw new Error(`${file} has ${found.length - 1} headings, not a question and an answer`);
  return found;
}

/** A block of Markdown; an error for all that a lesson does not need. */
export function block(token: Token, file: string): Block {
  if (token.type === "paragraph") return { kind: "paragraph", children: inlines(token.tokens ?? [], file) };
  if (token.type === "list") {
    const items = (token as Tokens.List).items.map((item) =>
      inlines(
        item.tokens.flatMap((inner) => ("tokens" in inner && inner.tokens ? inner.tokens : [inner])),
        file,
      ),
    );
    return { kind: "list", items };
  }
  throw new Error(`${file}: a lesson has paragraphs and lists, not ${token.type}: ${token.raw}`);
}

function inlines(tokens: Token[], file: string): Inline[] {
  return tokens.map((token) => {
    switch (token.type) {
      case "text":
      case "escape":
        return unescaped(token.text).replace(/\s*\n\s*/g, " ");
      case "em":
      case "strong":
        return { kind: token.type, children: inlines(token.tokens ?? [], file) };
      case "codespan":
        return { kind: "code", children: [unescaped(token.text)] };
      case "link":
        if (!/^https:\/\//.test(token.href)) throw new Error(`${file}: a link to ${token.href} is not https`);
        return { kind: "link", href: token.href, children: inlines(token.tokens ?? [], file) };
      default:
        throw new Error(`${file}: a lesson has no ${token.type}: ${token.raw}`);
    }
  });
}

/** The characters that Markdown's lexer may write as entities. */
function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!);
}

const ENTITIES: { [entity: string]: string } = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
