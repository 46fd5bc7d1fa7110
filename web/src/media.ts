// Media queries as signals.
import { type ReadonlySignal, signal } from "@preact/signals";

/** Whether a query matches; outside a browser none does. */
export function media(query: string): ReadonlySignal<boolean> {
  const list = globalThis.matchMedia?.(query);
  const matches = signal(list?.matches ?? false);
  list?.addEventListener("change", () => {
    matches.value = list.matches;
  });
  return matches;
}
