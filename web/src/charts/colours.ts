// Colours of curves: the palettes of the reports, which colour-blind readers can tell apart.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022"];
const DARK = ["#4C9BE8", "#F2803C", "#1FBF92", "#E295C6", "#EDB72B", "#A6E1FA", "#F2F2F2", "#A48BFF", "#FF6F88"];

const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

let dark = system?.matches ?? false;
let fixed = false;
const listeners = new Set<() => void>();

system?.addEventListener("change", () => {
  if (!fixed) change(system.matches);
});

function change(value: boolean): void {
  if (value === dark) return;
  dark = value;
  for (const listener of listeners) listener();
}

/** Draws for a dark or a light page, whatever the system prefers: notebooks have themes of their own. */
export function setDark(value: boolean): void {
  fixed = true;
  change(value);
}

/** Colour of a curve by its number. */
export function colour(index: number): string {
  const palette = dark ? DARK : LIGHT;
  return palette[index % palette.length]!;
}

/** The colour with an opacity, from 0 to 1. */
export function faint(hex: string, opacity: number): string {
  return (
    hex +
    Math.round(opacity * 255)
      .toString(16)
      .padStart(2, "0")
  );
}

/** Calls back when the page changes between light and dark. Returns a function that ends this. */
export function onScheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
