// The editor of a scenario's text: TOML colours, completion, help, and problems under their line. It lives in a shadow root, so that its
// styles need no permission from a Content-Security-Policy. Tab leaves it, so it is no trap for the keyboard.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import type { Problem } from "../engine/protocol.ts";
import type { Describe } from "../scenario/describe.ts";
import { locate } from "../scenario/problems.ts";
import { read } from "../scenario/toml.ts";
import { complete, hover } from "./complete.ts";
import { toml } from "./language.ts";
import { SHELL, theme } from "./theme.ts";

/** What the editor shows, and whom it tells. */
export interface EditorOptions {
  text: string;
  /** Called after each change by the user, with the whole text. */
  onChange: (text: string) => void;
  describe: Describe;
  /** Name for screen readers. */
  label?: string;
}

/** An editor on the page. */
export interface Editor {
  /** Replaces the text, if it differs, as a step that can be undone; `onChange` is not called. */
  setText(text: string): void;
  /** Shows the problems of the text that `check` found; an empty list removes them. */
  setProblems(problems: Problem[]): void;
  /** Moves the cursor to a problem and the focus into the editor. */
  show(problem: Problem): void;
  focus(): void;
  destroy(): void;
}

const HELP =
  "TOML. Control+Space opens suggestions, Enter takes one, Escape closes them. F8 goes to the next problem. Tab leaves the editor.";

/** Puts an editor into `element`. */
export function mountEditor(element: HTMLElement, options: EditorOptions): Editor {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHELL);
  root.adoptedStyleSheets = [sheet];
  const help = document.createElement("p");
  help.id = "help";
  help.className = "unseen";
  help.textContent = HELP;
  const box = document.createElement("div");
  root.append(help, box);
  element.append(host);

  let silent = false;
  const view = new EditorView({
    parent: box,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        // Lists and help keep off the window's edge, which would cut off their border.
        tooltips({ tooltipSpace: () => ({ left: 4, top: 4, right: innerWidth - 4, bottom: innerHeight - 4 }) }),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        toml,
        autocompletion({ override: [complete(options.describe)], icons: false }),
        hoverTooltip(hover(options.describe)),
        lintGutter(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": options.label ?? "Scenario",
          "aria-describedby": "help",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !silent) options.onChange(update.state.doc.toString());
        }),
        theme,
      ],
    }),
  });

  return {
    setText(text) {
      const before = view.state.doc.toString();
      if (before === text) return;
      silent = true;
      try {
        view.dispatch({ changes: difference(before, text) });
      } finally {
        silent = false;
      }
    },
    setProblems(problems) {
      view.dispatch(setDiagnostics(view.state, diagnostics(problems, view.state.doc.toString())));
    },
    show(problem) {
      const text = view.state.doc.toString();
      view.dispatch({ selection: { anchor: locate(problem, read(text), text).from }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy() {
      view.destroy();
      host.remove();
    },
  };
}

/** The one change that turns `before` into `after`, so that the cursor stays where it can. */
export function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let tail = 0;
  while (tail < most - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}

/** Problems as marks in the text. */
export function diagnostics(problems: Problem[], text: string): Diagnostic[] {
  const reading = read(text);
  const made = problems.map((problem): Diagnostic => {
    const { from, to } = locate(problem, reading, text);
    const message = problem.key ? `${problem.key}: ${problem.message}` : problem.message;
    return { from, to, severity: "error", message };
  });
  return made.sort((one, other) => one.from - other.from);
}
