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

/** Words that end the text, the usual one first. */
const WORDS = ["END", "TOML", "SCENARIO", "FILE"];

/** A line that does not occur in `text`, and with which every shell reads it. */
function delimiter(text: string): string {
  const lines = text.split("\n");
  const numbers = Array.from({ length: lines.length + 1 }, (_, index) => (index === 0 ? "" : String(index + 1)));
  const free = numbers.flatMap((number) => WORDS.map((word) => word + number)).filter((word) => !lines.includes(word));
  return free.find((word) => !lines.some((line) => damaged(line, word))) ?? free[0]!;
}

/** Whether dash loses a byte of a line, which it does with a letter beyond ASCII behind the beginning of the delimiter. */
function damaged(line: string, word: string): boolean {
  return [...word].some(
    (_, index) => index > 0 && line.startsWith(word.slice(0, index)) && line.charCodeAt(index) > 127,
  );
}
