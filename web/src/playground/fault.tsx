// All that is wrong, in one place; a problem of the text leads to its line.
import type { JSX } from "preact";
import type { Problem } from "../engine/protocol.ts";
import type { Lab } from "./lab.ts";

interface FaultProperties {
  lab: Lab;
  /** Shows a problem in the text, if there is an editor. */
  show?: (problem: Problem) => void;
}

/** The faults of the scenario, or why the engine failed. */
export function Fault({ lab, show }: FaultProperties): JSX.Element {
  const error = lab.error.value;
  const problems = show ? lab.problems.value : [];
  return (
    <div class="error" role="alert" hidden={error === ""}>
      {problems.length === 0 ? (
        <pre>{error}</pre>
      ) : (
        problems.map((problem) => (
          <p>
            {problem.line !== null && (
              <button type="button" class="quiet" onClick={() => show!(problem)}>
                Line {problem.line}
              </button>
            )}
            {problem.line !== null && " "}
            {problem.key && <code>{problem.key}</code>}
            {problem.key ? ": " : ""}
            {problem.message}
          </p>
        ))
      )}
    </div>
  );
}
