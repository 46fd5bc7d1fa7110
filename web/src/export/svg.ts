// Charts as SVG, drawn from the data: title, axes with units, grid, legend. The text is XML of its own and never enters the page.

/** A curve over time. */
export interface PlotCurve {
  /** Name in the legend; `null` if the legend does not name it. */
  label: string | null;
  colour: string;
  width: number;
  dash?: number[];
  dots: boolean;
  /** Whether the vertical axis covers it. */
  scaled: boolean;
  /** Values at the times of the plot; `null` where there is none. */
  values: (number | null)[];
}

/** A chart. */
export interface Plot {
  title: string;
  unit: string;
  height: number;
  /** Seconds. */
  from: number;
  to: number;
  times: number[];
  curves: PlotCurve[];
}

/** Title and size of the figure. */
export interface FigureOptions {
  title: string;
  subtitle?: string;
  width?: number;
}

const INK = "#1c2330";
const SOFT = "#59636f";
const LINE = "#dfe3e8";
const LEFT = 64;
const RIGHT = 18;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
/** Mean width of a letter over the size of the font, on the safe side. */
const LETTER = 0.6;

/** A figure of `plots`, one above the other. */
export function svg(plots: Plot[], { title, subtitle, width = 900 }: FigureOptions): string {
  const parts: string[] = [];
  let top = 14;
  for (const [text, size, weight, colour] of [
    [title, 17, 650, INK],
    [subtitle ?? "", 12, 400, SOFT],
  ] as const) {
    for (const line of text === "" ? [] : wrapped(text, width - 24, size)) {
      top += size + 4;
      parts.push(label(12, top, line, { size, weight, colour }));
    }
  }
  top += 12;
  plots.forEach((plot, index) => {
    const last = index === plots.length - 1;
    const made = panel(plot, { top, width, index, last });
    parts.push(made.content);
    top = made.bottom;
  });
  const height = Math.ceil(top + 8);
  const about = [title, ...plots.map((plot) => `${plot.title} (${plot.unit})`)].join("; ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}">`,
    `<title>${escaped(about)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  top: number;
  width: number;
  index: number;
  last: boolean;
}

function panel(plot: Plot, { top, width, index, last }: Place): { content: string; bottom: number } {
  const parts = [label(12, top + 13, `${plot.title} (${plot.unit})`, { size: 13, weight: 650 })];
  const key = legend(plot, top + 13, width);
  parts.push(...key.parts);
  const y0 = key.bottom + 8;
  const [right, bottom] = [width - RIGHT, y0 + plot.height];
  const high = highest(plot);
  const x = (time: number) => LEFT + ((time - plot.from) / (plot.to - plot.from || 1)) * (right - LEFT);
  const y = (value: number) => bottom - (value / high) * plot.height;
  for (const value of ticks(0, high, Math.max(2, Math.round(plot.height / 32)))) {
    parts.push(
      line(LEFT, y(value), right, y(value)),
      label(LEFT - 8, y(value) + 4, written(value), { anchor: "end", colour: SOFT }),
    );
  }
  for (const time of ticks(plot.from, plot.to, Math.max(3, Math.round(width / 90)))) {
    parts.push(
      line(x(time), y0, x(time), bottom),
      label(x(time), bottom + 17, written(time), { anchor: "middle", colour: SOFT }),
    );
  }
  parts.push(`<path d="M${LEFT} ${cut(y0)}V${cut(bottom)}H${cut(right)}" fill="none" stroke="${SOFT}"/>`);
  parts.push(
    `<clipPath id="plot${index}"><rect x="${LEFT}" y="${cut(y0 - 2)}" width="${cut(right - LEFT)}" height="${cut(plot.height + 2)}"/></clipPath>`,
  );
  const drawn = plot.curves.toReversed().map((curve) => path(curve, plot.times, x, y));
  parts.push(`<g clip-path="url(#plot${index})">${drawn.join("")}</g>`);
  if (last) parts.push(label((LEFT + right) / 2, bottom + 35, "time (s)", { anchor: "middle", colour: SOFT }));
  return { content: parts.join("\n"), bottom: bottom + (last ? 40 : 32) };
}

/** The names of the curves, in as many lines as they need. */
function legend(plot: Plot, top: number, width: number): { parts: string[]; bottom: number } {
  const parts: string[] = [];
  let [left, baseline] = [12 + (plot.title.length + plot.unit.length + 3) * 13 * LETTER + 24, top];
  for (const { label: name, colour, width: thickness, dash, dots } of plot.curves) {
    if (name === null) continue;
    const size = 24 + name.length * 12 * LETTER + 14;
    if (left + size > width - RIGHT && left > 12) [left, baseline] = [12, baseline + 18];
    parts.push(
      dots
        ? `<circle cx="${cut(left + 9)}" cy="${baseline - 4}" r="3" ${paint("fill", colour)}/>`
        : `<path d="M${cut(left)} ${baseline - 4}h18" ${paint("stroke", colour)} stroke-width="${Math.max(2, thickness)}"${dashes(dash)}/>`,
      label(left + 24, baseline, name, {}),
    );
    left += size;
  }
  return { parts, bottom: baseline };
}

/** A colour with an opacity, such as #0072B2bf, as attributes that every program for SVG knows. */
function paint(attribute: "stroke" | "fill", colour: string): string {
  const [, plain, alpha] = /^(#[\da-f]{6})([\da-f]{2})$/i.exec(colour) ?? [];
  if (plain === undefined || alpha === undefined) return `${attribute}="${escaped(colour)}"`;
  return `${attribute}="${plain}" ${attribute}-opacity="${cut(Number.parseInt(alpha, 16) / 255)}"`;
}

const dashes = (dash: number[] | undefined): string => (dash ? ` stroke-dasharray="${dash.join(" ")}"` : "");

/** A curve as one path; equal values in a row take two points. */
function path(curve: PlotCurve, times: number[], x: (time: number) => number, y: (value: number) => number): string {
  const { values, colour, width, dash, dots } = curve;
  const steps: string[] = [];
  let open = false;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value === null || value === undefined || !Number.isFinite(value)) {
      open = false;
      continue;
    }
    const at = `${cut(x(times[index]!))} ${cut(y(value))}`;
    if (dots) steps.push(`M${at}h0`);
    else if (!open) steps.push(`M${at}`);
    else if (values[index - 1] !== value || values[index + 1] !== value) steps.push(`L${at}`);
    open = true;
  }
  if (steps.length === 0) return "";
  const ends = dots ? ' stroke-linecap="round"' : ' stroke-linejoin="round"';
  return `<path d="${steps.join("")}" fill="none" ${paint("stroke", colour)} stroke-width="${width}"${dashes(dash)}${ends}/>`;
}

/** The end of the vertical axis, which begins at zero. */
function highest({ curves }: Plot): number {
  let high = 0;
  for (const { values, scaled } of curves) {
    if (scaled) for (const value of values) if (value !== null && Number.isFinite(value) && value > high) high = value;
  }
  return high > 0 ? high * 1.05 : 1;
}

/** Round numbers from `from` to `to`, about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const exact = (to - from) / count;
  if (!(exact > 0) || !Number.isFinite(exact)) return [from];
  const power = 10 ** Math.floor(Math.log10(exact));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= exact * 0.999) ?? exact;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: false });
const written = (value: number): string =>
  (Math.abs(value) >= 1e6 ? value.toExponential().replace("e+", "e") : format.format(value)).replace("-", "−");

const cut = (value: number): string => String(Math.round(value * 100) / 100);

const line = (x1: number, y1: number, x2: number, y2: number): string =>
  `<path d="M${cut(x1)} ${cut(y1)}L${cut(x2)} ${cut(y2)}" stroke="${LINE}"/>`;

interface TextStyle {
  size?: number;
  weight?: number;
  colour?: string;
  anchor?: "middle" | "end";
}

function label(
  x: number,
  y: number,
  text: string,
  { size = 12, weight = 400, colour = INK, anchor }: TextStyle,
): string {
  const end = anchor ? ` text-anchor="${anchor}"` : "";
  const bold = weight === 400 ? "" : ` font-weight="${weight}"`;
  return `<text x="${cut(x)}" y="${cut(y)}" font-size="${size}" fill="${colour}"${bold}${end}>${escaped(text)}</text>`;
}

/** `text` in lines of at most `width` pixels. */
function wrapped(text: string, width: number, size: number): string[] {
  const most = Math.max(10, Math.floor(width / (size * LETTER)));
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A text in XML; characters that XML forbids become the replacement character. */
export function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
