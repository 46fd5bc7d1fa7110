// The time–sequence diagram: drawn on a canvas, with zoom, and a packet that pointer or keys choose.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { themeColour } from "../charts/panel.ts";
import { fitted, sheet } from "./canvas.ts";
import {
  type Backlog,
  backlogs,
  decimals,
  type Ladder,
  ladder,
  type Line,
  moved,
  nearest,
  opening,
  ticks,
  visible,
  zoomed,
} from "./ladder.ts";
import { clock, described, type Packets } from "./packets.ts";
import { cross, ink, Legend } from "./style.tsx";

const HEIGHT = 540;
const TOP = 26;
const BOTTOM = 10;
/** Packets that the first view shows; more are within reach by zooming out. */
const AT_FIRST = 300;
/** Above this number of lines, they are thin and translucent, and have no numbers. */
const MANY = 500;
/** Up to this number, each line has the number of its segment. */
const NUMBERED = 60;
const REACH = 12;

const SIGNS = {
  data: "data",
  ack: "ACK",
  again: "retransmission",
  marked: "marked (ECN)",
  waits: "packets that wait (width)",
  lost: "lost",
};

/** The diagram of a flow's packets. */
export function Diagram({ packets, flow }: { packets: Packets; flow: number }): JSX.Element {
  const board = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<Drawing>();
  useEffect(() => {
    const made = draws(board.current!);
    setDrawing(made);
    return made.end;
  }, []);
  useEffect(() => drawing?.show(packets, flow), [drawing, packets, flow]);
  const button = (text: string, title: string, act: (drawing: Drawing) => void) => (
    <button title={title} aria-label={title} onClick={() => drawing && act(drawing)}>
      {text}
    </button>
  );
  return (
    <div class="diagram">
      <div class="tools">
        {button("+", "Zoom in", ({ zoom }) => zoom(0.5))}
        {button("−", "Zoom out", ({ zoom }) => zoom(2))}
        {button("↑", "Earlier", ({ move }) => move(-0.5))}
        {button("↓", "Later", ({ move }) => move(0.5))}
        {button("Whole time", "Whole time", ({ whole }) => whole())}
        <span class="soft">{drawing?.range}</span>
      </div>
      <div
        class="board"
        ref={board}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it has keys of its own
        tabIndex={0}
        role="application"
        aria-label="Time–sequence diagram. Arrow down and up: next and previous packet. Plus and minus: zoom. Page down and up: later and earlier."
      />
      <output class="said">{drawing?.said}</output>
      <Legend signs={SIGNS} />
    </div>
  );
}

type ThreeColours = [string, string, string];
type Drawing = ReturnType<typeof draws>;

/** Draws on a board, and lets pointer and keys choose packets there. */
function draws(board: HTMLElement) {
  let packets: Packets | undefined;
  let drawing: Ladder = { nodes: [], lines: [] };
  let queues: Backlog[] = [];
  let limits: [number, number] = [0, 1];
  let view: [number, number] = [0, 1];
  let chosen: Line | undefined;
  const said = signal("");
  const range = signal("");
  const { canvas, redraw, end } = sheet(board, () => HEIGHT, draw);
  const look = (next: [number, number]) => {
    view = next;
    redraw();
  };
  const zoom = (factor: number, around?: number) => look(zoomed(view, limits, factor, around));
  const move = (share: number) => look(moved(view, limits, share));

  const left = () => (board.clientWidth < 500 ? 46 : 66);
  const x = (node: number) => {
    const [start, end] = [left() + 22, board.clientWidth - 26];
    return start + (drawing.nodes.length > 1 ? node / (drawing.nodes.length - 1) : 0.5) * (end - start);
  };
  const y = (time: number) => TOP + ((time - view[0]) / (view[1] - view[0])) * (HEIGHT - TOP - BOTTOM);

  function draw(context: CanvasRenderingContext2D, width: number): void {
    const [soft, line, strong] = ["--soft", "--line", "--ink"].map((name) => themeColour(name, board)) as ThreeColours;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const times = ticks(view[0], view[1], 12);
    const places = decimals((times[1] ?? view[1]) - (times[0] ?? view[0]));
    range.value = `${view[0].toFixed(places)} to ${view[1].toFixed(places)} s`;
    context.lineWidth = 1;
    for (const time of times) {
      context.strokeStyle = line;
      context.beginPath();
      context.moveTo(left(), y(time));
      context.lineTo(width, y(time));
      context.stroke();
      context.fillStyle = soft;
      context.textAlign = "right";
      if (y(time) > TOP - 2) context.fillText(time.toFixed(places), left() - 6, y(time));
    }
    const room = drawing.nodes.length > 1 ? x(1) - x(0) : width;
    context.textAlign = "center";
    for (const [index, node] of drawing.nodes.entries()) {
      context.strokeStyle = soft;
      context.beginPath();
      context.moveTo(x(index), TOP - 6);
      context.lineTo(x(index), HEIGHT - BOTTOM + 6);
      context.stroke();
      context.fillStyle = strong;
      context.fillText(fitted(context, node, room - 6), x(index), 10);
    }
    context.save();
    context.beginPath();
    context.rect(left() - 2, TOP - 6, width - left() + 2, HEIGHT - TOP - BOTTOM + 12);
    context.clip();
    const lines = visible(drawing.lines, view[0], view[1]);
    const many = lines.length > MANY;
    const peaks = queues.map((queue) => band(context, queue, room));
    context.globalAlpha = many ? 0.55 : 1;
    for (const each of lines) stroke(context, each, many ? 0.7 : 1.4);
    context.globalAlpha = 1;
    for (const { lost, reached, end } of lines) if (lost) cross(context, x(reached), y(end), many ? 3 : 4.5);
    for (const label of peaks) label?.();
    if (lines.length <= NUMBERED) numbers(context, lines);
    if (chosen) {
      wait(context, chosen);
      stroke(context, chosen, 3.5, strong);
      if (chosen.lost) cross(context, x(chosen.reached), y(chosen.end), 6);
    }
    context.restore();
    if (lines.length === 0) {
      context.fillStyle = soft;
      context.textAlign = "left";
      context.fillText("No packet of this flow is on a link.", left() + 30, HEIGHT / 2);
    }
  }

  function stroke(
    context: CanvasRenderingContext2D,
    { packet, from, left: sent, end, reached }: Line,
    width: number,
    colour = ink(packet, context.canvas),
  ): void {
    context.strokeStyle = colour;
    const start = sent ?? end;
    context.lineWidth = packet.kind === "ack" ? width * 0.8 : width;
    context.setLineDash(packet.retransmission ? [5, 3] : []);
    context.beginPath();
    context.moveTo(x(from), y(start));
    context.lineTo(x(reached), y(end));
    context.stroke();
    context.setLineDash([]);
  }

  /** How long the chosen packet waits. */
  function wait(context: CanvasRenderingContext2D, { packet, from, entered, left: sent, end }: Line): void {
    context.strokeStyle = ink(packet, context.canvas);
    context.lineWidth = 5;
    context.beginPath();
    context.moveTo(x(from), y(entered));
    context.lineTo(x(from), y(sent ?? end));
    context.stroke();
  }

  /** The backlog of a queue as a band beside its node, on the side of its link. Returns what writes the largest number beside it. */
  function band(
    context: CanvasRenderingContext2D,
    { from, to, steps, most }: Backlog,
    room: number,
  ): (() => void) | undefined {
    const unit = (Math.sign(to - from) * Math.min(90, room * 0.3)) / Math.max(most, 4);
    context.fillStyle = themeColour("--accent", context.canvas);
    context.globalAlpha = 0.25;
    context.beginPath();
    context.moveTo(x(from), y(steps[0]![0]));
    let last = 0;
    let peak = steps[0]!;
    for (const step of steps) {
      const [time, packets] = step;
      context.lineTo(x(from) + unit * last, y(time));
      context.lineTo(x(from) + unit * packets, y(time));
      last = packets;
      if (time >= view[0] && time <= view[1] && (packets > peak[1] || peak[0] < view[0])) peak = step;
    }
    context.lineTo(x(from), y(steps.at(-1)![0]));
    context.fill();
    context.globalAlpha = 1;
    if (peak[1] < 2 || peak[0] < view[0] || peak[0] > view[1]) return undefined;
    return () => {
      context.textAlign = unit > 0 ? "left" : "right";
      const height = Math.min(HEIGHT - BOTTOM - 8, Math.max(TOP + 8, y(peak[0])));
      const place: [number, number] = [x(from) + unit * peak[1] + Math.sign(unit) * 4, height];
      // A halo keeps it readable above lines.
      context.lineWidth = 4;
      context.strokeStyle = themeColour("--paper", context.canvas);
      context.strokeText(`${peak[1]} wait`, ...place);
      context.fillStyle = themeColour("--ink", context.canvas);
      context.fillText(`${peak[1]} wait`, ...place);
    };
  }

  /** The numbers of segments where packets enter their first link, as far as there is room. */
  function numbers(context: CanvasRenderingContext2D, lines: Line[]): void {
    const free = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { packet, from, left: sent, end } of lines) {
      const side = packet.source === "sender" ? 0 : 1;
      const height = y(sent ?? end);
      if (from !== side * (drawing.nodes.length - 1) || height < free[side]!) continue;
      free[side] = height + 11;
      context.fillStyle = ink(packet, context.canvas);
      context.textAlign = side === 0 ? "right" : "left";
      context.fillText(String(packet.number), x(from) + (side === 0 ? -4 : 4), height);
    }
  }

  function choose(line: Line | undefined, follow: boolean): void {
    if (line === chosen) return;
    chosen = line;
    said.value = line && packets ? described(line.packet, packets.scenario) : "";
    if (line && follow && (line.entered < view[0] || line.end > view[1])) {
      const span = view[1] - view[0];
      view = zoomed(view, limits, 1, line.entered);
      view = moved(view, limits, (line.entered - view[0] - span * 0.2) / span);
    }
    redraw();
  }

  const pointed = (event: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let dragged: { from: number; view: [number, number] } | undefined;
  board.addEventListener("pointermove", (event) => {
    const point = pointed(event);
    if (dragged) {
      const share = (dragged.from - point[1]) / (HEIGHT - TOP - BOTTOM);
      return look(moved(dragged.view, limits, share));
    }
    choose(nearest(visible(drawing.lines, view[0], view[1]), point, x, y, REACH), false);
  });
  board.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") return;
    dragged = { from: pointed(event)[1], view };
    board.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel"]) board.addEventListener(name, () => (dragged = undefined));
  board.addEventListener(
    "wheel",
    (event) => {
      // Without Ctrl, the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      const share = (event.clientY - box.top - TOP) / (HEIGHT - TOP - BOTTOM);
      look(zoomed(view, limits, event.deltaY > 0 ? 1.3 : 1 / 1.3, view[0] + share * (view[1] - view[0])));
    },
    { passive: false },
  );
  board.addEventListener("keydown", (event) => {
    const place = chosen ? drawing.lines.indexOf(chosen) : -1;
    const first = drawing.lines.findIndex(({ entered }) => entered >= view[0]);
    const step = (by: number) => choose(drawing.lines[place < 0 ? Math.max(0, first) : place + by] ?? chosen, true);
    const acts: { [key: string]: () => void } = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      "+": () => zoom(0.5, chosen?.entered),
      "=": () => zoom(0.5, chosen?.entered),
      "-": () => zoom(2, chosen?.entered),
      PageDown: () => move(0.5),
      PageUp: () => move(-0.5),
      Escape: () => choose(undefined, false),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });

  return {
    ...{ said, range, zoom, move, end },
    whole: () => look(limits),
    show(next: Packets, flow: number) {
      const same = packets !== undefined && packets.from === next.from && packets.to === next.to;
      packets = next;
      drawing = ladder(next, flow);
      queues = backlogs(drawing, next);
      limits = [next.from, next.to];
      if (!same) view = opening(drawing.lines, limits, AT_FIRST);
      choose(undefined, false);
      const losses = drawing.lines.filter(({ lost }) => lost).length;
      const sent = drawing.lines.filter(({ packet, from }) => packet.kind === "data" && from === 0).length;
      said.value = `${sent} data packets enter the first link from ${clock(next.from)} to ${clock(next.to)}; ${losses} packets are lost.`;
      redraw();
    },
  };
}
