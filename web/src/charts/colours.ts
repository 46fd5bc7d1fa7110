// Colours of curves: the palettes of the reports, which colour-blind readers can tell apart.
import { computed, signal } from "@preact/signals";
import { media } from "../media.ts";

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022"];
const DARK = ["#4C9BE8", "#F2803C", "#1FBF92", "#E295C6", "#EDB72B", "#A6E1FA", "#F2F2F2", "#A48BFF", "#FF6F88"];

const system = media("(prefers-color-scheme: dark)");
/** Whether the surroundings are dark, where they do not follow the system. */
export const surroundings = signal<boolean>();
/** Whether colours are those for a dark page. */
export const dark = computed(() => surroundings.value ?? system.value);
let onPaper = false;

/** Colour of a curve by its number. */
export function colour(index: number): string {
  const palette = dark.value && !onPaper ? DARK : LIGHT;
  return palette[index % palette.length]!;
}

/** The colour with an opacity, from 0 to 1. */
export function faint(hex: string, opacity: number): string {
  const alpha = Math.round(opacity * 255);
  return hex + alpha.toString(16).padStart(2, "0");
}

/** What `make` gives with light colours, for images on white paper. */
export function inLight<T>(make: () => T): T {
  onPaper = true;
  try {
    return make();
  } finally {
    onPaper = false;
  }
}
