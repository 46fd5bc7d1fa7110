// Colours, dashes and texts of figures; they follow the page's light or dark look.

const PALETTES = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022"],
  dark: ["#4C9BE8", "#F2803C", "#1FBF92", "#E295C6", "#EDB72B", "#A6E1FA", "#F2F2F2", "#A48BFF", "#FF6F88"],
};
const DASHES = ["solid", "dash", "dot", "dashdot"] as const;
const DASHES_AGAIN = ["dot", "dash", "dashdot"] as const;

export const FONT = 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif';

export interface Look {
  palette: string[];
  ink: string;
  soft: string;
  line: string;
  paper: string;
}

export const LIGHT: Look = {
  palette: PALETTES.light,
  ink: "#1c2330",
  soft: "#59636f",
  line: "#dfe3e8",
  paper: "#ffffff",
};
export const DARK: Look = {
  palette: PALETTES.dark,
  ink: "#e4e7ec",
  soft: "#a3adba",
  line: "#343b46",
  paper: "#1b1f26",
};

export const colourOf = (index: number, { palette }: Look): string => palette[index % palette.length]!;

/** The dashes of a curve: colours that come again have others, and so has each press of "Run". */
export function dashOf({ colour, again }: { colour: number; again?: number }, { palette }: Look): string {
  if (again) return DASHES_AGAIN[(again - 1) % DASHES_AGAIN.length]!;
  return DASHES[Math.floor(colour / palette.length) % DASHES.length]!;
}

/** A colour such as #0072B2, with a share of its opacity. */
export function faded(colour: string, share: number): string {
  const parts = [1, 3, 5].map((place) => Number.parseInt(colour.slice(place, place + 2), 16));
  return `rgba(${parts.join(",")},${share})`;
}

/** A text without markup, of which the drawing library reads a few tags. */
export const plain = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A text in lines of at most so many letters; a longer word stays whole. */
export function wrapped(text: string, letters: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last && last.length + word.length + 1 > letters) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.map(plain).join("<br>");
}
