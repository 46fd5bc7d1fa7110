// The look of the editor, from the page's colours.

import { EditorView } from "@codemirror/view";

/** Styles of the shadow root itself. */
export const SHELL = `
:host { display: block; color: var(--ink); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; white-space: nowrap; }
`;

const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

export const theme = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--paper)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: MONO, lineHeight: "1.5", overflow: "auto", maxHeight: "var(--editor-height, 70vh)" },
  ".cm-content": { caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--head)", border: "none", borderRadius: "6px 0 0 6px" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  "&:not(.cm-focused) .cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--hover)",
    outline: "1px solid var(--line)",
  },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--paper)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "0 2px 10px rgb(0 0 0 / 18%)",
    maxWidth: "min(30rem, 92vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: MONO, maxHeight: "15em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.75" },
  ".cm-tooltip.cm-completionInfo": { padding: "0", maxWidth: "min(22rem, 92vw)" },
  ".help": { padding: "6px 10px", fontFamily: "system-ui, sans-serif", fontSize: "13px", lineHeight: "1.4" },
  ".help p": { margin: "0 0 4px" },
  ".cm-diagnostic": { fontFamily: "system-ui, sans-serif", fontSize: "13px", padding: "4px 10px" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-lint-marker": { width: "0.9em", height: "0.9em" },
});
