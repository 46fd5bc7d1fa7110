// From the data of a panel to what plotly.js draws: traces and layout.
import { colourOf, dashOf, FONT, faded, type Look, plain, wrapped } from "./look.ts";
import { type AxisSpec, type HeatmapSpec, isCurve, type PanelSpec, type SeriesSpec } from "./spec.ts";

/** A trace or a layout of plotly.js. */
export type Drawn = { [key: string]: unknown };

const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "star", "cross"];
const SCALES = {
  sequence: "Viridis",
  gain: scale("#b2182b", "#ef8a62", "#f7f7f7", "#67a9cf", "#2166ac"),
  loss: scale("#2166ac", "#67a9cf", "#f7f7f7", "#ef8a62", "#b2182b"),
  ratio: scale("#762a83", "#af8dc3", "#f7f7f7", "#7fbf7b", "#1b7837"),
};

function scale(...colours: string[]): [place: number, colour: string][] {
  return colours.map((colour, at) => [at / (colours.length - 1), colour]);
}

/** The traces of a series: its band, if it has one, and itself. */
export function tracesOf(series: SeriesSpec, look: Look): Drawn[] {
  const colour = colourOf(series.colour, look);
  const curve = isCurve(series);
  const { low, high } = series;
  const place = series.x ? { x: series.x } : { x0: series.x0, dx: series.dx };
  const common = { ...place, meta: series.name, name: plain(series.name), showlegend: false };
  const shape = series.style === "step" ? "hv" : "linear";
  const texts = series.texts?.map(plain);
  const hover = texts ? "%{text}" : "%{y:.4~g}";
  const main: Drawn = { ...common, y: series.y, hovertemplate: curve ? hover : `%{x}: ${hover}` };
  if (texts) main["text"] = texts;
  if (!curve && low && high) main["error_y"] = errors(series, low, high, series.style === "bars" ? look.ink : colour);
  if (series.style === "bars") Object.assign(main, bars(series, colour, texts !== undefined));
  else {
    const width = series.again ? 2.4 : series.faint ? 1 : 1.8;
    Object.assign(main, { type: "scatter", line: { color: colour, width, dash: dashOf(series, look), shape } });
    if (curve) main["mode"] = "lines";
    else Object.assign(main, points(series, colour, look));
  }
  main["hovertemplate"] += `<extra>${plain(series.name)}</extra>`;
  if (!curve || !low) return [main];
  const edge = {
    ...common,
    type: "scatter",
    mode: "lines",
    hoverinfo: "skip",
    line: { width: 0, shape, color: colour },
  };
  return [{ ...edge, y: low }, { ...edge, y: high, fill: "tonexty", fillcolor: faded(colour, 0.14) }, main];
}

function errors({ y }: SeriesSpec, low: (number | null)[], high: (number | null)[], color: string): Drawn {
  const reach = (ends: (number | null)[], sign: 1 | -1) =>
    y.map((value, at) => (ends[at] === null || value === null ? 0 : sign * (ends[at]! - value)));
  return {
    type: "data",
    symmetric: false,
    color,
    thickness: 1.2,
    width: 3,
    array: reach(high, 1),
    arrayminus: reach(low, -1),
  };
}

function bars({ y, base = 0, group, name }: SeriesSpec, colour: string, texts: boolean): Drawn {
  return {
    type: "bar",
    base,
    textposition: "none",
    marker: { color: faded(colour, 0.85) },
    offsetgroup: group || name,
    customdata: y,
    y: y.map((value) => (value === null ? null : value - base)),
    ...(!texts && { hovertemplate: "%{x}: %{customdata:.4~g}" }),
  };
}

function points({ style, colour: index, again, hollow, group, name }: SeriesSpec, colour: string, look: Look): Drawn {
  let marker: Drawn = { symbol: SYMBOLS[index % SYMBOLS.length], size: 7, color: colour };
  if (style === "printed") {
    marker = { symbol: "diamond", size: 10, color: look.paper, line: { color: colour, width: 2 } };
  }
  if (again) marker = { symbol: "star-diamond", size: 12, color: colour, line: { color: look.ink, width: 1.4 } };
  if (hollow) {
    marker = {
      ...marker,
      color: hollow.map((empty) => (empty ? look.paper : colour)),
      line: { color: colour, width: 1.6 },
    };
  }
  return { mode: style === "joined" ? "lines+markers" : "markers", marker, offsetgroup: group || name };
}

/** The trace of a map, with its axes and frames. */
export function mapOf(map: HeatmapSpec, width: number): { trace: Drawn; shapes: Drawn[]; x: Drawn; y: Drawn } {
  const room = (width - 150) / map.x.length;
  const lines = map.texts.flat().flatMap((text) => text.split("\n"));
  const size = Math.min(11, Math.floor((room / Math.max(...lines.map(({ length }) => length), 1)) * 1.6));
  const scaleTitle = { text: wrapped(map.unit, 40), side: "right", font: { size: 11 } };
  const ticks = map.ticks && {
    tickvals: map.ticks.map(([place]) => place),
    ticktext: map.ticks.map(([, name]) => plain(name)),
  };
  const trace: Drawn = {
    type: "heatmap",
    x: map.x.map((_, at) => at),
    y: map.y.map((_, at) => at),
    z: map.z,
    zmin: map.ends[0],
    zmax: map.ends[1],
    colorscale: SCALES[map.colours],
    xgap: 1,
    ygap: 1,
    hoverongaps: false,
    text: map.texts.map((row) => row.map((text) => text.split("\n").map(plain).join("<br>"))),
    customdata: map.y.map((y) => map.x.map((x) => [plain(x), plain(y)])),
    hovertemplate: "%{customdata[1]}, %{customdata[0]}: %{text}<extra></extra>",
    colorbar: { thickness: 10, outlinewidth: 0, title: scaleTitle, tickfont: { size: 10 }, ...ticks },
    showscale: width > 330,
    ...(size >= 7 && { texttemplate: "%{text}", textfont: { size } }),
  };
  const names = (list: string[], letters: number): Drawn => ({
    tickvals: list.map((_, at) => at),
    ticktext: list.map((name) => wrapped(name, letters)),
    tickfont: { size: list.length > 14 ? 9 : 11 },
    showgrid: false,
    zeroline: false,
    automargin: true,
  });
  const shapes = (map.framed ?? []).map(([x, y]) => ({
    type: "rect",
    ...{ x0: x - 0.47, x1: x + 0.47, y0: y - 0.47, y1: y + 0.47 },
    line: { color: "#D55E00", width: 2.5 },
  }));
  const across = names(map.x, Math.max(6, Math.floor(room / 6)));
  return { trace, shapes, x: across, y: { ...names(map.y, 26), autorange: "reversed" } };
}

/** Axes, fonts and shapes of a panel. */
export function layoutOf(panel: PanelSpec, look: Look, width: number, coarse: boolean): Drawn & { shapes: Drawn[] } {
  const series = panel.series ?? [];
  const curves = series.filter(isCurve).length;
  const allCurves = curves > 0 && curves === series.length;
  const y = axisOf(panel.y, 40, look, width);
  if (allCurves && !panel.y.log && !panel.y.limits) y["rangemode"] = "tozero";
  const text = { family: FONT, size: 12, color: look.ink };
  const transparent = "rgba(0,0,0,0)";
  return {
    paper_bgcolor: transparent,
    plot_bgcolor: transparent,
    font: text,
    margin: { l: 10, r: 10, t: 8, b: 10 },
    showlegend: false,
    hovermode: allCurves && curves <= 6 ? "x unified" : "closest",
    dragmode: coarse ? false : "zoom",
    hoverlabel: { bgcolor: look.paper, bordercolor: look.line, font: text, namelength: -1 },
    modebar: { bgcolor: transparent, color: look.soft, activecolor: look.ink },
    barmode: "group",
    bargap: 0.18,
    // Points beside the line of a formula stay at their places; others step aside, so that no interval hides another.
    scattermode: curves ? "overlay" : "group",
    scattergap: 0.75,
    xaxis: axisOf(panel.x, 60, look, width),
    yaxis: y,
    shapes: shapesOf(panel, look),
  };
}

function shapesOf({ references = [], band, bars = [] }: PanelSpec, look: Look): Drawn[] {
  const across = { xref: "paper", x0: 0, x1: 1, layer: "below" };
  const dashed = (width: number) => ({ color: look.soft, width, dash: "dash" });
  return [
    ...references.map((value) => ({ ...across, type: "line", y0: value, y1: value, line: dashed(1.2) })),
    ...(band
      ? [{ ...across, type: "rect", y0: band[0], y1: band[1], line: { width: 0 }, fillcolor: faded(look.soft, 0.16) }]
      : []),
    ...bars.map(([at, value]) => ({
      type: "line",
      ...{ x0: at - 0.42, x1: at + 0.42, y0: value, y1: value },
      layer: "below",
      line: dashed(1.4),
    })),
  ];
}

function axisOf({ title, log, limits, names }: AxisSpec, letters: number, look: Look, width: number): Drawn {
  const made: Drawn = {
    automargin: true,
    gridcolor: look.line,
    linecolor: look.soft,
    zerolinecolor: look.line,
    tickcolor: look.soft,
    hoverformat: ".4~g",
    title: { text: wrapped(title, letters), standoff: 8, font: { size: 12 } },
  };
  if (log) Object.assign(made, { type: "log", minor: { showgrid: false } });
  if (limits) made["range"] = log ? limits.map(Math.log10) : limits;
  if (!names) return made;
  const room = Math.max(6, Math.floor(width / names.length / 7));
  return {
    ...made,
    type: "category",
    categoryorder: "array",
    categoryarray: names,
    tickvals: names,
    range: [-0.5, names.length - 0.5],
    ticktext: names.map((name) => wrapped(name, room)),
    showgrid: false,
  };
}
