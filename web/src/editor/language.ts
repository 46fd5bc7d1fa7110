// TOML as a language of the editor, for colours, brackets and comments. Its grammar is the page's own reader.
import {
  defineLanguageFacet,
  HighlightStyle,
  Language,
  languageDataProp,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Input, NodeSet, NodeType, Parser, type PartialParse, Tree } from "@lezer/common";
import { styleTags, tags } from "@lezer/highlight";
import { type Mark, read } from "../scenario/toml.ts";

const data = defineLanguageFacet({ commentTokens: { line: "#" } });
const KINDS: Mark["kind"][] = ["Comment", "Header", "Key", "String", "Atom"];
const top = NodeType.define({ id: KINDS.length, name: "Document", top: true, props: [[languageDataProp, data]] });
const nodeSet = new NodeSet([...KINDS.map((name, id) => NodeType.define({ id, name })), top]).extend(
  styleTags({
    Comment: tags.comment,
    Header: tags.heading,
    Key: tags.propertyName,
    String: tags.string,
    Atom: tags.atom,
  }),
);

/** A text as a flat tree of its marks. */
function treeOf(text: string): Tree {
  const buffer = read(text).marks.flatMap(({ kind, from, to }) => [KINDS.indexOf(kind), from, to, 4]);
  return Tree.build({ buffer, nodeSet, topID: KINDS.length, length: text.length });
}

/** Reads the whole text at once: scenarios are short. */
class Reader extends Parser {
  createParse(input: Input): PartialParse {
    const { length } = input;
    return { advance: () => treeOf(input.read(0, length)), parsedPos: length, stopAt() {}, stoppedAt: null };
  }
}

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.heading, tags.atom], color: "var(--bad)" },
]);

/** The language, with its colours. */
export const toml = [new Language(data, new Reader(), [], "toml"), syntaxHighlighting(colours)];
