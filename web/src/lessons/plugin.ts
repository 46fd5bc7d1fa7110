// Gives the page its lessons: `import { lessons } from "ackclock:lessons"`.
import type { Plugin } from "esbuild";
import { readLessons } from "./read.ts";

/** The module `ackclock:lessons`, made from the folder of the lessons. */
export const lessons: Plugin = {
  name: "lessons",
  setup(build) {
    build.onResolve({ filter: /^ackclock:lessons$/ }, ({ path }) => ({ path, namespace: "lessons" }));
    build.onLoad({ filter: /.*/, namespace: "lessons" }, () => ({
      contents: `export const lessons = ${JSON.stringify(readLessons())};`,
      loader: "js",
    }));
  },
};
