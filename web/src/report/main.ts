// The program of a report: its tables and figures, and runs of its scenarios by the engine that the page may contain.
import { unpack } from "../engine/instance.ts";
import { wasmEngine } from "../engine/wasm.ts";
import { mountFigures } from "../page/figures.tsx";
import { mountCommands, mountLinks } from "../page/links.ts";
import type { FigureSpec } from "../page/spec.ts";
import { mountTables } from "../page/tables.ts";
import { mountAgain } from "./again.tsx";
import type { RunData } from "./data.ts";
import { laboratory } from "./laboratory.ts";

const stored = (id: string): string | undefined => document.getElementById(id)?.textContent.trim();

async function unpacked(id: string): Promise<string> {
  return new TextDecoder().decode(await unpack(stored(id)!, "deflate"));
}

/** Runs the drawing library, whose hash the page's policy knows. */
async function loadLibrary(): Promise<void> {
  const script = document.createElement("script");
  script.textContent = await unpacked("library");
  document.head.append(script);
}

async function start(): Promise<void> {
  const elements = [...document.querySelectorAll<HTMLElement>("figure[data-figure]")];
  if (!elements.length) return;
  const [data] = await Promise.all([unpacked("data"), loadLibrary()]);
  const figures = mountFigures(elements, JSON.parse(data) as FigureSpec[]);
  const engine = stored("engine");
  if (!engine) return;
  const runs = JSON.parse(await unpacked("live")) as RunData;
  const engines = laboratory(() => wasmEngine(engine));
  for (const figure of figures) mountAgain(figure, runs, engines);
  document.documentElement.dataset["live"] = "yes";
}

mountTables();
mountCommands();
mountLinks();
void start();
