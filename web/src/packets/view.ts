// The packets of a chosen time: which time, which flow, as a diagram or as an animation.
import { fill, h } from "../dom.ts";
import type { Engine } from "../engine/protocol.ts";
import { mountAnimation } from "./animation.ts";
import { mountDiagram } from "./diagram.ts";
import { type Packets, read } from "./packets.ts";

/** The scenario whose packets are wanted, and the time. */
export interface Wanted {
  /** The scenario, as TOML. */
  text: string;
  /** Settings on top of it, as of `--set`. */
  settings?: [string, string][];
  /** Seconds. */
  from: number;
  to: number;
}

/** Most packets of an answer: what a page draws without delay. */
const MOST = 20_000;

/** Mounts the packets in `place`. `show` follows the scenario and the time that the page shows; the reader asks for the packets. */
export function mountPackets(place: HTMLElement, engine: Engine, wanted: Wanted): { show(next: Wanted): void } {
  let shown: Packets | undefined;
  let loading = 0;
  const seconds = (label: string) =>
    h("input", { type: "number", min: "0", step: "any", required: true, class: "time", "aria-label": label });
  const from = seconds("From, in seconds");
  const to = seconds("To, in seconds");
  const load = h("button", { class: "primary", type: "submit" }, "Show packets");
  const form = h(
    "form",
    { class: "tools" },
    h("label", {}, "From ", from, " s"),
    h("label", {}, "to ", to, " s"),
    load,
  );
  const note = h("p", { class: "soft note", role: "status" });
  const flow = h("select", { "aria-label": "Flow" });
  const flowLabel = h("label", { class: "choice" }, "Flow ", flow);
  const diagramPlace = h("div", { class: "diagram" });
  const animationPlace = h("div", { class: "animation", hidden: true });
  const tab = (text: string, pressed: boolean) =>
    h("button", { class: "toggle", "aria-pressed": pressed, on: { click: () => turn(text === "Diagram") } }, text);
  const tabs = [tab("Diagram", true), tab("Animation", false)];
  const views = h(
    "div",
    { class: "views", hidden: true },
    h("div", { class: "tools" }, h("div", { class: "toggles", role: "group", "aria-label": "View" }, tabs), flowLabel),
    diagramPlace,
    animationPlace,
  );
  fill(
    place,
    h("h2", {}, "Packets"),
    h(
      "p",
      { class: "soft" },
      "Every packet on every link in a part of the run. Mark a time in a chart, or write it here.",
    ),
    form,
    note,
    views,
  );
  const diagram = mountDiagram(diagramPlace);
  const animation = mountAnimation(animationPlace);

  function turn(toDiagram: boolean): void {
    diagramPlace.hidden = !toDiagram;
    animationPlace.hidden = toDiagram;
    flowLabel.hidden = !toDiagram;
    tabs[0]!.setAttribute("aria-pressed", String(toDiagram));
    tabs[1]!.setAttribute("aria-pressed", String(!toDiagram));
    animation.pause();
  }

  let picked = false;
  flow.addEventListener("change", () => {
    picked = true;
    if (shown) diagram.show(shown, Number(flow.value));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask();
  });

  async function ask(): Promise<void> {
    const mine = ++loading;
    load.disabled = true;
    note.textContent = "";
    try {
      const { text, settings } = wanted;
      const span = { from: Number(from.value), to: Number(to.value) };
      const frame = await engine.ask({ do: "packets", text, ...(settings && { settings }), ...span, most: MOST });
      if (mine !== loading) return;
      present(read(frame));
    } catch (error) {
      if (mine === loading) note.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      if (mine === loading) load.disabled = false;
    }
  }

  function present(packets: Packets): void {
    shown = packets;
    const { flows } = packets.scenario;
    const present = [...new Set(packets.packets.map((packet) => packet.flow))].sort((a, b) => a - b);
    views.hidden = present.length === 0;
    views.classList.remove("stale");
    note.textContent =
      present.length === 0
        ? "No packet is on a link in this time."
        : packets.cut
          ? `Only the packets until ${packets.to.toPrecision(4)} s: there are more than ${MOST.toLocaleString("en")}.`
          : "";
    const before = flow.value;
    fill(
      flow,
      present.map((index) => h("option", { value: String(index) }, flows[index]!)),
    );
    // The flow of the first loss, until the reader chooses.
    const lost = packets.packets.filter(({ dropped }) => dropped !== undefined);
    const first = lost.sort((one, other) => one.dropped! - other.dropped!)[0];
    if (picked && present.includes(Number(before))) flow.value = before;
    else if (first) flow.value = String(first.flow);
    if (present.length === 0) return;
    diagram.show(packets, Number(flow.value));
    animation.show(packets);
  }

  const write = () => {
    from.value = String(Number(wanted.from.toPrecision(6)));
    to.value = String(Number(wanted.to.toPrecision(6)));
  };
  write();
  return {
    show(next) {
      const times = next.from !== wanted.from || next.to !== wanted.to;
      const text = next.text !== wanted.text || JSON.stringify(next.settings) !== JSON.stringify(wanted.settings);
      wanted = next;
      if (times) write();
      if (text && shown) {
        views.classList.add("stale");
        animation.pause();
        note.textContent = "The scenario has changed: these are packets of the run before.";
      }
    },
  };
}
