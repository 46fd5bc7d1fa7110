// Builds the page's files into python/ackclock/data/page: `node build.ts`.
//
// Every script is a classic one (except the widget, which Jupyter imports), so that the page also opens from file://.
import { existsSync } from "node:fs";
import { appendFile, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { lessons } from "./src/lessons/plugin.ts";
import { type Contained, contained, named, rendered } from "./notices.ts";
import { stale } from "./stale.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const out = here("../python/ackclock/data/page/");

const common = {
  bundle: true,
  minify: true,
  target: ["chrome111", "firefox115", "safari16.4"],
  charset: "utf8",
  // The packages' own comments are not complete: `noticed` adds the whole texts.
  legalComments: "none",
  metafile: true as const,
  loader: { ".toml": "text" },
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [lessons],
  logLevel: "warning",
} satisfies BuildOptions;

/** Name of the built file, source, and its kind. */
const SCRIPTS: [name: string, source: string, format: "iife" | "esm"][] = [
  ["playground.js", "src/playground/main.tsx", "iife"],
  ["logs.js", "src/logs/main.tsx", "iife"],
  ["report.js", "src/report/main.ts", "iife"],
  ["widget.js", "src/widget/main.tsx", "esm"],
];

// The worker's program travels as text within each script.
const worker = await build({ ...common, entryPoints: [here("src/engine/worker.ts")], write: false, format: "iife" });
// The widget's style travels in its script. It lives in a shadow root, whose theme is an attribute: that of the notebook.
const style = await build({ ...common, entryPoints: [here("src/widget/widget.css")], write: false });
const define = {
  WORKER_SOURCE: JSON.stringify(worker.outputFiles[0]!.text),
  WIDGET_STYLE: JSON.stringify(shadowed(style.outputFiles[0]!.text)),
};

/** Turns the style of a page into that of a shadow root. */
function shadowed(css: string): string {
  return css
    .replaceAll(":root", ":host")
    .replace(/@media ?\(prefers-color-scheme: ?dark\)\{:host\{(.*?)\}\}/g, ":host([data-theme=dark]){$1}");
}

await mkdir(out, { recursive: true });
// Whoever serves a page distributes Ackclock, too.
const own: [string, string] = ["Ackclock: MIT OR Apache-2.0", (await readFile(here("../LICENSE-MIT"), "utf8")).trim()];
const all: Contained = new Map([own]);
for (const [name, source, format] of SCRIPTS) {
  if (!existsSync(here(source))) {
    await rm(out + name, { force: true });
    continue;
  }
  const { metafile } = await build({ ...common, entryPoints: [here(source)], outfile: out + name, format, define });
  // A script travels alone, in a report or a notebook, and takes the licences of its parts with it.
  const packages = new Map([own, ...contained(worker.metafile), ...contained(metafile)]);
  await appendFile(out + name, `/*!\n${rendered(packages)}*/\n`);
  for (const [name, text] of packages) all.set(name, text);
}
await build({ ...common, entryPoints: [here("src/style.css")], outfile: `${out}style.css` });
for (const name of ["index.html", "logs.html", "icon.svg"]) await copyFile(here(`src/${name}`), out + name);
// Reports contain the part of plotly.js that draws in two dimensions, as it is published.
const drawing = here("node_modules/plotly.js-cartesian-dist-min/");
await copyFile(`${drawing}plotly-cartesian.min.js`, `${out}plotly.js`);
await copyFile(`${drawing}LICENSE`, `${out}plotly.LICENSE.txt`);
all.set(...named(drawing));
await writeFile(`${out}third-party.txt`, `The pages of Ackclock contain:\n\n${rendered(all)}`);
// `make web` replaces this file. Without the engine it sets nothing, so that the page can say what is missing. An engine that is
// older than its sources would give other numbers than the native one.
const crates = ["core", "host", "models", "tcp", "sim", "web", "wire"].map((name) => here(`../crates/${name}`));
const old = stale(`${out}engine.js`, [...crates, here("../Cargo.lock")]);
if (old) console.log("the engine for pages is older than its sources and was removed; make web compiles it again");
if (old || !existsSync(`${out}engine.js`)) {
  await writeFile(`${out}engine.js`, "// The engine was not built: make web\n");
  await rm(`${out}engine-third-party.txt`, { force: true });
}
