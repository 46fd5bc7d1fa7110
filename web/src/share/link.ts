// What the playground puts into a link, and takes out of one.

import { CHARTS } from "../charts/curves.ts";
import type { Lab, State } from "../playground/lab.ts";
import type { Shared, ViewValue } from "./share.ts";

/** The state that a link holds. */
export function sharedOf(lab: Lab): Shared {
  const { text, kept, visible, choice, zoom } = lab.get();
  const labels = lab.labels().slice(-kept.length);
  return {
    text,
    runs: kept.map((run, index) => ({ name: labels[index]!, text: run.text })),
    view: { charts: visible, flows: choice.flows, link: choice.link, ...(zoom && { zoom }) },
  };
}

/** The part of a state that a link's view describes; what it does not know stays as it is. */
export function viewFrom(view: Record<string, ViewValue>): Partial<Pick<State, "visible" | "zoom">> {
  const { charts, zoom } = view;
  const visible = CHARTS.map(({ id }) => id).filter((id) => Array.isArray(charts) && charts.includes(id));
  const [from, to] = Array.isArray(zoom) ? zoom : [];
  const times = typeof from === "number" && typeof to === "number" && 0 <= from && from < to;
  return { ...(visible.length > 0 && { visible }), ...(times && { zoom: [from, to] as [number, number] }) };
}

/** Shows what a link holds. */
export function open(lab: Lab, shared: Shared): void {
  lab.set({ zoom: undefined, ...viewFrom(shared.view) });
  if (shared.text !== lab.get().text) lab.setText(shared.text);
  void lab.compare(shared.runs);
  chooseCurves(lab, shared);
}

/** Chooses flows and link as soon as there is a run that has them. */
function chooseCurves(lab: Lab, { text, view }: Shared): void {
  const { flows, link } = view;
  if (!Array.isArray(flows) && typeof link !== "string") return;
  const choose = (state: State): boolean => {
    if (state.current?.text !== text) return state.text !== text;
    const { scenario } = state.current.recording;
    const chosen = scenario.flows.filter((name) => Array.isArray(flows) && flows.includes(name));
    const known = scenario.links.some(({ name }) => name === link);
    const { choice } = state;
    lab.set({
      choice: { flows: chosen.length > 0 ? chosen : choice.flows, link: known ? String(link) : choice.link },
    });
    return true;
  };
  if (choose(lab.get())) return;
  const end = lab.subscribe((state) => {
    if (state.current && state.current.text === text) {
      end();
      choose(state);
    } else if (state.text !== text) end();
  });
}
