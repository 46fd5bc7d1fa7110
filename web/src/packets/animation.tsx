// The animation along the links: packets move, queues are stacks, losses are crosses.
import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { colour } from "../charts/colours.ts";
import { themeColour } from "../charts/panel.ts";
import { type Option, Select } from "../controls.tsx";
import { media } from "../media.ts";
import { fitted, sheet } from "./canvas.ts";
import { at, event, flowsOf, type Moment, type Node, place as placed, told } from "./moving.ts";
import { clock, type Packet, type Packets } from "./packets.ts";
import { cross, Legend } from "./style.tsx";

/** Seconds that the whole span takes at the speed that is set at first. */
const WHOLE = 20;
/** Seconds between two pictures for readers who want less motion. */
const CALM = 0.7;
/** Packets of a queue that are drawn one by one. */
const STACK = 24;
const SPEEDS = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

const NAMED = SPEEDS.map(
  (speed): Option => [speed, speed === 1 ? "real time" : `1/${Math.round(1 / speed)} of real time`],
);

/** Readers who want less motion. */
const calm = media("(prefers-reduced-motion: reduce)");
const SIGNS = { square: "data", small: "ACK", outlined: "retransmission or marked", lost: "lost" };

interface AnimationProperties {
  packets: Packets;
  hidden: boolean;
  /** Whether the scenario has changed since. */
  stale: boolean;
}

/** The animation of all packets. */
export function Animation({ packets, hidden, stale }: AnimationProperties): JSX.Element {
  const board = useRef<HTMLDivElement>(null);
  const [film, setFilm] = useState<Film>();
  useEffect(() => {
    const made = films(board.current!, packets);
    setFilm(made);
    return made.end;
  }, [packets]);
  useEffect(() => {
    if (hidden || stale) film?.pause();
  }, [film, hidden, stale]);
  const hurry = (speed: string) => {
    if (film) film.speed.value = Number(speed);
  };
  const flows = flowsOf(packets);
  const { from, to, scenario } = packets;
  const time = film?.time.value ?? from;
  return (
    <div class="animation" hidden={hidden}>
      <div class="tools">
        <button class="primary" onClick={() => film?.turn()}>
          {film?.playing.value ? "Pause" : "Play"}
        </button>
        <button aria-label="Step back to the previous event" title="Previous event" onClick={() => film?.step(false)}>
          ◂ Step
        </button>
        <button aria-label="Step to the next event" title="Next event" onClick={() => film?.step(true)}>
          Step ▸
        </button>
        <Select label="Speed" value={film?.speed.value ?? 1} options={NAMED} onPick={hurry} />
        <span class="clock">{clock(time)}</span>
      </div>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={clock(time)}
        min="0"
        max="1000"
        step="1"
        value={Math.round(((time - from) / (to - from)) * 1000)}
        onInput={({ currentTarget }) => film?.seek(from + (Number(currentTarget.value) / 1000) * (to - from))}
      />
      <div class="board" ref={board} />
      <p class="said">{film?.words}</p>
      <p class="unseen" role="status">
        {film?.said}
      </p>
      <ul class="signs" aria-label="Flows">
        {flows.map((flow, index) => (
          <li>
            <span class="sign square" aria-hidden="true" style={{ background: colour(index) }} />
            {scenario.flows[flow]}
          </li>
        ))}
        {packets.packets.some(({ flow }) => !flows.includes(flow)) && (
          <li>The packets of more flows are drawn only where they wait.</li>
        )}
      </ul>
      <Legend signs={SIGNS} />
    </div>
  );
}

type Film = ReturnType<typeof films>;

/** Draws packets on a board, and plays them. */
function films(board: HTMLElement, packets: Packets) {
  const { from, to } = packets;
  const flows = flowsOf(packets);
  const list = placed(packets, flows);
  const nodes = new Map(list.map((node) => [node.name, node]));
  const rows = Math.max(1, ...list.map(({ x }) => list.filter((other) => other.x === x).length));
  const distance = (value: number) => Math.abs(Math.log((value * WHOLE) / (to - from)));
  const time = signal(from);
  const playing = signal(false);
  /** Seconds of the run in a second. */
  const speed = signal(SPEEDS.reduce((best, value) => (distance(value) < distance(best) ? value : best)));
  /** The moment in words, and what a screen reader says of it. */
  const moment = computed(() => at(packets, time.value, (to - from) / 60));
  const words = computed(() => `${told(moment.value, packets)}.`);
  const said = signal("");
  const { redraw, end } = sheet(board, () => Math.min(440, 120 + rows * 62), draw);

  function seek(next: number): void {
    time.value = Math.min(to, Math.max(from, next));
    redraw();
  }

  /** Shows a time, and says what is there. */
  function tell(next: number): void {
    pause();
    seek(next);
    said.value = `${clock(time.value)}. ${words.value}`;
  }

  function pause(): void {
    if (playing.value) said.value = `Paused at ${clock(time.value)}. ${words.value}`;
    playing.value = false;
  }

  function start(): void {
    if (time.value >= to) seek(from);
    playing.value = true;
    let last = performance.now();
    const picture = (now: number) => {
      if (!playing.value || !board.isConnected) return;
      const passed = (now - last) / 1e3;
      if (!calm.value || passed >= CALM) {
        last = now;
        seek(time.value + passed * speed.value);
        if (time.value >= to) return pause();
      }
      requestAnimationFrame(picture);
    };
    requestAnimationFrame(picture);
  }

  /** Colour of a packet's flow; packets of flows beyond those drawn only wait, in grey. */
  function tint({ flow }: Packet): string {
    const index = flows.indexOf(flow);
    return index < 0 ? themeColour("--soft", board) : colour(index);
  }

  const MARGIN = 38;
  const position = (node: Node, width: number, height: number): [number, number] => [
    MARGIN + node.x * (width - 2 * MARGIN),
    26 + node.y * (height - 52),
  ];

  function draw(context: CanvasRenderingContext2D, width: number, height: number): void {
    const [soft, line, strong, paper] = ["--soft", "--line", "--ink", "--paper"].map((name) =>
      themeColour(name, context.canvas),
    ) as [string, string, string, string];
    const { links } = packets.scenario;
    // The two directions of a link are lanes beside each other.
    const way = (link: number): [[number, number], [number, number]] | undefined => {
      const [from, to] = [nodes.get(links[link]!.from), nodes.get(links[link]!.to)];
      if (!from || !to) return undefined;
      const [[ax, ay], [bx, by]] = [position(from, width, height), position(to, width, height)];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      const [nx, ny] = [(by - ay) / length, -(bx - ax) / length];
      return [
        [ax + nx * 7, ay + ny * 7],
        [bx + nx * 7, by + ny * 7],
      ];
    };
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.strokeStyle = line;
    context.lineWidth = 9;
    for (const link of links.keys()) {
      const ends = way(link);
      if (!ends) continue;
      context.beginPath();
      context.moveTo(...ends[0]);
      context.lineTo(...ends[1]);
      context.stroke();
    }
    for (const { packet, share } of moment.value.moving) {
      const ends = flows.includes(packet.flow) && way(packet.link);
      if (!ends) continue;
      const [[ax, ay], [bx, by]] = ends;
      box(context, packet, ax + (bx - ax) * share, ay + (by - ay) * share, paper, strong);
    }
    context.textAlign = "center";
    for (const node of nodes.values()) {
      const [nx, ny] = position(node, width, height);
      context.fillStyle = paper;
      context.strokeStyle = soft;
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(nx, ny, 13, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      context.fillStyle = strong;
      const inside = context.measureText(node.name).width < 22;
      context.fillText(fitted(context, node.name, 90), nx, inside ? ny : ny + 22);
    }
    stacks(context, moment.value, way, soft);
    for (const packet of moment.value.lost) {
      const ends = way(packet.link);
      if (!ends) continue;
      const share = packet.left === undefined ? 0.12 : 0.88;
      cross(context, ends[0][0] + (ends[1][0] - ends[0][0]) * share, ends[0][1] + (ends[1][1] - ends[0][1]) * share, 5);
    }
  }

  function box(
    context: CanvasRenderingContext2D,
    packet: Packet,
    x: number,
    y: number,
    paper: string,
    strong: string,
  ): void {
    const [w, h] = packet.kind === "ack" ? [4, 4] : [9, 7];
    context.fillStyle = tint(packet);
    context.fillRect(x - w / 2, y - h / 2, w, h);
    if (packet.retransmission || packet.ecn === "CE") {
      context.strokeStyle = paper;
      context.lineWidth = 3;
      context.strokeRect(x - w / 2 - 1.5, y - h / 2 - 1.5, w + 3, h + 3);
      context.strokeStyle = strong;
      context.lineWidth = 1.5;
      context.strokeRect(x - w / 2 - 1.5, y - h / 2 - 1.5, w + 3, h + 3);
    }
  }

  /** Queues as stacks beside the node, above it for links to the right and below for links to the left. */
  function stacks(
    context: CanvasRenderingContext2D,
    { waiting }: Moment,
    way: (link: number) => [[number, number], [number, number]] | undefined,
    soft: string,
  ): void {
    for (const [link, queue] of waiting) {
      const ends = way(link);
      if (!ends) continue;
      const [[ax, ay], [bx]] = ends;
      const forward = bx >= ax;
      const direction = forward ? -1 : 1;
      const x = ax + (forward ? 20 : -20);
      const shown = queue.slice(0, STACK);
      for (const [index, packet] of shown.entries()) {
        context.fillStyle = tint(packet);
        context.fillRect(x - 6, ay + direction * (9 + index * 3.4) - 1.2, 12, 2.4);
      }
      context.fillStyle = soft;
      context.textAlign = forward ? "left" : "right";
      context.fillText(String(queue.length), x + (forward ? 10 : -10), ay + direction * (9 + (shown.length * 3.4) / 2));
    }
  }

  return {
    ...{ time, playing, speed, words, said, pause, seek: tell },
    turn: () => (playing.value ? pause() : start()),
    step: (forward: boolean) => tell(event(packets, time.value, forward)),
    end() {
      pause();
      end();
    },
  };
}
