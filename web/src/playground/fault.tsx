// All that is wrong, in one place; a problem of the text leads to its line.
import type { JSX } from "preact";
import type { Problem } from "../engine/protocol.ts";
import type { Lab } from "./lab.ts";

/** The faults of the scenario, or why the engine failed. With an editor, `show` shows a problem in the text. */
export function Fault({ lab, show }: { lab: Lab; show?: (problem: Problem) => void }): JSX.Element {
  const error = lab.error.value;
  const problems = show ? lab.problems.value : [];
  const lines = problems.map((problem) => (
    <p>
      {problem.line !== null && (
        <button class="quiet" onClick={() => show!(problem)}>
          Line {problem.line}
        </button>
      )}{" "}
      {problem.key && <code>{problem.key}</code>}
      {problem.key ? ": " : ""}
      {problem.message}
    </p>
  ));
  return (
    <div class="error" role="alert" hidden={error === ""}>
      {lines.length > 0 ? lines : <pre>{error}</pre>}
    </div>
  );
}
