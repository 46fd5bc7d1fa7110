// The command line that repeats a run.

/** A run to repeat. */
export interface Command {
  /** Name of the scenario; it becomes the file's name. */
  name: string;
  text: string;
  /** Settings on top of the text, as pairs of a key and its value. */
  settings?: [key: string, value: string][];
  /** Traces to record instead of those of the file. */
  record?: string[];
  /** Folder for the results. */
  out?: string;
}

/** Shell commands (POSIX) that write the scenario into a file and run it. */
export function commandLine(command: Command): string {
  const file = `${fileName(command.name)}.toml`;
  const end = delimiter(command.text);
  const text = command.text.endsWith("\n") || command.text === "" ? command.text : `${command.text}\n`;
  return `cat > ${file} <<'${end}'\n${text}${end}\n${runCommand(file, command)}\n`;
}

/** The command that runs `file`. */
function runCommand(file: string, { settings = [], record = [], out }: Omit<Command, "name" | "text">): string {
  const words = ["ackclock", "run", file];
  for (const [key, value] of settings) words.push("--set", `${key}=${value}`);
  for (const trace of record) words.push("--record", trace);
  if (out !== undefined) words.push("--out", out);
  return words.map(quoted).join(" ");
}

/** A name for files: letters, digits, dots, underscores and hyphens. */
export function fileName(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[.-]+|[.-]+$/g, "");
  return plain === "" ? "scenario" : plain.slice(0, 80);
}

/** A word of a shell command. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A line that does not occur in `text`. */
function delimiter(text: string): string {
  const lines = new Set(text.split("\n"));
  let word = "END";
  for (let number = 2; lines.has(word); number += 1) word = `END${number}`;
  return word;
}
