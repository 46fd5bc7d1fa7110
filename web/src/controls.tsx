// The fields, menus and buttons of all pages.
import type { ComponentChildren, JSX } from "preact";
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

/** A text field that keeps what the reader types until the value changes: answers that come while it is edited do not replace the text. */
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

/** A value, its text, and what it means. */
export type Option = string | [value: string | number, text: string, title?: string];

interface SelectProperties {
  /** Without it, the menu is a field of a form, by its name. */
  value?: string | number;
  options: Option[];
  onPick?: (value: string) => void;
  label?: string;
  name?: string;
  id?: string;
  title?: string;
  disabled?: boolean;
}

/** A menu of values. */
export function Select({ options, onPick, label, ...more }: SelectProperties): JSX.Element {
  return (
    <select aria-label={label} {...more} onChange={({ currentTarget }) => onPick?.(currentTarget.value)}>
      {options.map((option) => {
        const [value, text, title] = typeof option === "string" ? [option, option] : option;
        return <option key={value} {...{ value, title }} children={text} />;
      })}
    </select>
  );
}

type Parent = { children: ComponentChildren };

/** A control under its name, or beside it. */
export function Labelled({ label, children, ...more }: Parent & { label: string; class?: string; title?: string }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label {...more}>
      <span>{label}</span>
      {children}
    </label>
  );
}

/** Buttons in a row that belong together. */
export function Toggles({ label, ...more }: Parent & { label: string; hidden?: boolean }) {
  // biome-ignore lint/a11y/useSemanticElements: a fieldset lays its buttons out in its own way
  return <div class="toggles" role="group" aria-label={label} {...more} />;
}

/** A button that is pressed or not. */
export function Toggle({ pressed, ...more }: Parent & { pressed: boolean; onClick: () => void }) {
  return <button class="toggle" aria-pressed={pressed} {...more} />;
}
