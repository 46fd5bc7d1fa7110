// Colours of curves: the palettes of the reports, which colour-blind readers can tell apart.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022"];
const DARK = ["#4C9BE8", "#F2803C", "#1FBF92", "#E295C6", "#EDB72B", "#A6E1FA", "#F2F2F2", "#A48BFF", "#FF6F88"];

const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let forced: boolean | undefined;
system?.addEventListener("change", changed);

function changed(): void {
  for (const listener of listeners) listener();
}

/** Colour of a curve by its number. */
export function colour(index: number): string {
  const palette = (forced ?? system?.matches) ? DARK : LIGHT;
  return palette[index % palette.length]!;
}

/** The colour with an opacity, from 0 to 1. */
export function faint(hex: string, opacity: number): string {
  const alpha = Math.round(opacity * 255);
  return hex + alpha.toString(16).padStart(2, "0");
}

/** Chooses dark or light colours where the surroundings do not follow the system; undefined follows it again. */
export function setDark(value: boolean | undefined): void {
  forced = value;
  changed();
}

/** What `make` gives with light colours, for images on white paper. */
export function inLight<T>(make: () => T): T {
  const before = forced;
  forced = false;
  try {
    return make();
  } finally {
    forced = before;
  }
}

/** Calls back when the colours change between light and dark. */
export function onScheme(listener: () => void): void {
  listeners.add(listener);
}
