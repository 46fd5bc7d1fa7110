// What the playground puts into a link, and takes out of one.

import { batch } from "@preact/signals";
import { CHARTS, type View } from "../charts/curves.ts";
import type { Lab } from "../playground/lab.ts";
import type { Shared, ViewValue } from "./share.ts";

/** The state that a link holds. */
export function sharedOf(lab: Lab): Shared {
  const kept = lab.kept.value;
  const labels = lab.labels.value.slice(-kept.length);
  const { flows, link } = lab.choice.value;
  const zoom = lab.zoom.value;
  return {
    text: lab.text.value,
    runs: kept.map((run, index) => ({ name: labels[index]!, text: run.text })),
    view: { charts: lab.visible.value, flows, link, ...(zoom && { zoom }) },
  };
}

/** The part of a state that a link's view describes; what it does not know stays as it is. */
export function viewFrom(view: Record<string, ViewValue>): Partial<Pick<View, "visible" | "zoom">> {
  const { charts, zoom } = view;
  const visible = CHARTS.map(({ id }) => id).filter((id) => Array.isArray(charts) && charts.includes(id));
  const [from, to] = Array.isArray(zoom) ? zoom : [];
  const times = typeof from === "number" && typeof to === "number" && 0 <= from && from < to;
  return { ...(visible.length > 0 && { visible }), ...(times && { zoom: [from, to] as [number, number] }) };
}

/** Shows what a link holds. */
export function open(lab: Lab, { text, runs, view }: Shared): void {
  const { visible, zoom } = viewFrom(view);
  const { flows, link } = view;
  batch(() => {
    lab.zoom.value = zoom;
    if (visible) lab.visible.value = visible;
    lab.prefer(text, {
      ...(Array.isArray(flows) && { flows: flows.map(String) }),
      ...(typeof link === "string" && { link }),
    });
  });
  if (text !== lab.text.value) lab.setText(text);
  void lab.compare(runs);
}
