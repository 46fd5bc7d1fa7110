// A text field that keeps what the reader types until the value changes.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Properties of a field. */
interface FieldProperties {
  value: string;
  /** Gets the text at its end; false marks the text as wrong. */
  onCommit: (text: string) => unknown;
  class?: string;
  label?: string;
  placeholder?: string;
  inputMode?: "decimal" | "numeric";
  disabled?: boolean;
  "aria-describedby"?: string;
}

/** The field. Answers that come while it is edited do not replace the text. */
export function Field({ value, onCommit, label, ...more }: FieldProperties): JSX.Element {
  const [draft, setDraft] = useState<{ of: string; text: string; wrong?: boolean }>();
  useEffect(() => {
    if (draft && draft.of !== value) setDraft(undefined);
  }, [draft, value]);
  const kept = draft?.of === value ? draft : undefined;
  return (
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      aria-label={label}
      {...more}
      aria-invalid={kept?.wrong ?? false}
      value={kept?.text ?? value}
      onInput={({ currentTarget }) => setDraft({ of: value, text: currentTarget.value })}
      onChange={({ currentTarget: { value: text } }) => {
        if (onCommit(text.trim()) === false) setDraft({ of: value, text, wrong: true });
      }}
    />
  );
}
