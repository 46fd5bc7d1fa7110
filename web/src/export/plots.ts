// The charts of the page as plots for SVG: the same curves over the same times, in light colours for paper.

import { inLight } from "../charts/colours.ts";
import { CHARTS, curves, note, rateWindow, type View } from "../charts/curves.ts";
import { points } from "../charts/panel.ts";
import { type Grid, times } from "../charts/series.ts";
import type { Plot } from "./svg.ts";

/** Points in a plot's width; two for each. */
const BUCKETS = 1000;

/** The visible charts of `view`, without those that have no curve. */
export function plots(view: View): Plot[] {
  const run = view.runs[0];
  if (!run) return [];
  const { duration } = run.recording.scenario;
  const [from, to] = view.zoom ?? [0, duration];
  const grid: Grid = { from, to, buckets: BUCKETS };
  const window = rateWindow(duration);
  const shown = CHARTS.filter(({ id }) => view.visible.includes(id));
  return inLight(() =>
    shown.flatMap((chart) => {
      const found = curves(chart, view.runs, view.choice, window);
      if (found.length === 0) return [];
      return [
        {
          title: chart.title,
          unit: note(chart, view.runs, view.choice, window),
          height: chart.height,
          from,
          to,
          times: times(grid),
          curves: found.map((curve) => ({
            label: curve.named ? curve.label : null,
            colour: curve.colour,
            width: curve.width,
            ...(curve.dash && { dash: curve.dash }),
            dots: curve.kind === "dots",
            scaled: curve.scaled,
            values: points(curve, grid),
          })),
        },
      ];
    }),
  );
}
