// The page that draws logs of connections: files are dropped or chosen, and read and drawn in the browser.
import { signal } from "@preact/signals";
import { type JSX, render } from "preact";
import { mountFigures } from "../page/figures.tsx";
import type { FigureSpec } from "../page/spec.ts";
import { figureOf, KINDS, labelled } from "./figures.ts";
import { type Log, readLogs } from "./read.ts";

/** Files that a reader has opened, in their order. */
const logs = signal<Log[]>([]);
const faults = signal<string[]>([]);
const specs: FigureSpec[] = KINDS.map((kind) => figureOf(kind, new Map()));

async function open(files: Iterable<File>): Promise<void> {
  const found: Log[] = [];
  const wrong: string[] = [];
  for (const file of files) {
    try {
      found.push(...readLogs(file.name, await file.text()));
    } catch (error) {
      wrong.push((error as Error).message);
    }
  }
  // A file of the same name replaces the earlier one.
  const names = new Set(found.map(({ file }) => file));
  logs.value = [...logs.value.filter(({ file }) => !names.has(file)), ...found];
  faults.value = wrong;
  draw();
}

function remove(file: string): void {
  logs.value = logs.value.filter((log) => log.file !== file);
  draw();
}

/** Fills the figures, and hides those that no log has data for. */
function draw(): void {
  const named = labelled(logs.value);
  KINDS.forEach((kind, at) => {
    Object.assign(specs[at]!, figureOf(kind, named));
    figures[at]!.element.hidden = !specs[at]!.panels[0]!.series?.length;
    figures[at]!.redraw();
  });
}

function Chooser(): JSX.Element {
  const files = [...new Set(logs.value.map(({ file }) => file))];
  return (
    <>
      <label class="drop">
        <span>
          <b>Choose logs</b>, or drop them anywhere in this page: qlog of any QUIC stack (.qlog, .sqlog), or of{" "}
          <code>ackclock run --qlog</code>. They stay in this browser.
        </span>
        <input
          type="file"
          multiple
          accept=".qlog,.sqlog,.qlognd,.qlogseq,.json"
          onChange={({ currentTarget }) => {
            void open([...(currentTarget.files ?? [])]);
            currentTarget.value = "";
          }}
        />
      </label>
      <div class="files">
        {files.map((file) => (
          <button key={file} title={`Close ${file}`} onClick={() => remove(file)}>
            {file} ✕
          </button>
        ))}
      </div>
      <div role="alert">
        {faults.value.map((fault) => (
          <p class="fault">{fault}</p>
        ))}
      </div>
    </>
  );
}

render(<Chooser />, document.getElementById("chooser")!);
const elements = KINDS.map(({ title }, at) => {
  const element = document.createElement("figure");
  element.dataset["figure"] = String(at);
  element.hidden = true;
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  const parts = ["legend", "panels"].map((name) => {
    const part = document.createElement("div");
    part.className = name;
    return part;
  });
  element.append(caption, ...parts);
  return element;
});
document.getElementById("figures")!.append(...elements);
const figures = mountFigures(elements, specs);
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  void open([...(event.dataTransfer?.files ?? [])]);
});
