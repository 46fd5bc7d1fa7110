// A text field that keeps what the reader types until the value changes.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Properties of a field; `onCommit` gets the text at its end. */
interface FieldProperties {
  value: string;
  onCommit: (text: string) => void;
  class?: string;
  label?: string;
  placeholder?: string;
}

/** The field. Answers that come while it is edited do not replace the text. */
export function Field({ value, onCommit, label, ...more }: FieldProperties): JSX.Element {
  const [draft, setDraft] = useState<{ of: string; text: string }>();
  useEffect(() => {
    if (draft && draft.of !== value) setDraft(undefined);
  }, [draft, value]);
  return (
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      aria-label={label}
      {...more}
      value={draft?.text ?? value}
      onInput={({ currentTarget }) => setDraft({ of: value, text: currentTarget.value })}
      onChange={({ currentTarget }) => onCommit(currentTarget.value.trim())}
    />
  );
}
