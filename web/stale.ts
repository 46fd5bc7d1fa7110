import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Whether a source is newer than the file that is built from it. A file that is missing is not stale. */
export function stale(built: string, sources: readonly string[]): boolean {
  const made = statSync(built, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && sources.some((source) => newest(source) > made);
}

/** The time of the last change of a file, or of any file in a folder. */
function newest(path: string): number {
  const about = statSync(path);
  if (!about.isDirectory()) return about.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}
