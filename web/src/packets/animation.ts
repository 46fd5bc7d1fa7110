// The animation along the links: packets move, queues are stacks, losses are crosses.
import { colour } from "../charts/colours.ts";
import { themeColour } from "../charts/panel.ts";
import { fill, h } from "../dom.ts";
import { fitted, sheet } from "./canvas.ts";
import { at, event, flowsOf, type Moment, type Node, place as placed, told } from "./moving.ts";
import { clock, type Packet, type Packets } from "./packets.ts";
import { cross, legend } from "./style.ts";

/** Seconds that the whole span takes at the speed that is set at first. */
const WHOLE = 20;
/** Seconds between two pictures for readers who want less motion. */
const CALM = 0.7;
/** Packets of a queue that are drawn one by one. */
const STACK = 24;
const SPEEDS = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/** Mounts the animation. */
export function mountAnimation(place: HTMLElement): { show(packets: Packets): void; pause(): void } {
  let packets: Packets | undefined;
  let nodes = new Map<string, Node>();
  let flows: number[] = [];
  let time = 0;
  let playing = false;
  let rows = 1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const play = h("button", { class: "primary", on: { click: () => (playing ? pause() : start()) } }, "Play");
  const stepBack = h(
    "button",
    { "aria-label": "Step back to the previous event", title: "Previous event", on: { click: () => step(false) } },
    "◂ Step",
  );
  const stepOn = h(
    "button",
    { "aria-label": "Step to the next event", title: "Next event", on: { click: () => step(true) } },
    "Step ▸",
  );
  const slider = h("input", { type: "range", "aria-label": "Time", min: "0", max: "1000", step: "1" });
  slider.addEventListener("input", () => {
    if (!packets) return;
    pause();
    seek(packets.from + (Number(slider.value) / 1000) * (packets.to - packets.from), true);
  });
  const speed = h(
    "select",
    { "aria-label": "Speed" },
    SPEEDS.map((value) =>
      h("option", { value: String(value) }, value === 1 ? "real time" : `1/${Math.round(1 / value)} of real time`),
    ),
  );
  const shownTime = h("span", { class: "clock" });
  const board = h("div", { class: "board" });
  const words = h("p", { class: "said" });
  const said = h("p", { class: "unseen", role: "status" });
  const { redraw } = sheet(board, () => Math.min(440, 120 + rows * 62), draw);
  const colours = h("ul", { class: "signs", "aria-label": "Flows" });
  fill(
    place,
    h("div", { class: "tools" }, play, stepBack, stepOn, speed, shownTime),
    slider,
    board,
    words,
    said,
    colours,
    legend([
      ["square", "data"],
      ["small", "ACK"],
      ["outlined", "retransmission or marked"],
      ["lost", "lost"],
    ]),
  );

  function after(): number {
    return packets ? (packets.to - packets.from) / 60 : 0;
  }

  function seek(next: number, say: boolean): void {
    if (!packets) return;
    time = Math.min(packets.to, Math.max(packets.from, next));
    slider.value = String(Math.round(((time - packets.from) / (packets.to - packets.from)) * 1000));
    slider.setAttribute("aria-valuetext", clock(time));
    shownTime.textContent = clock(time);
    const text = `${told(at(packets, time, after()), packets)}.`;
    words.textContent = text;
    if (say) said.textContent = `${clock(time)}. ${text}`;
    redraw();
  }

  function step(forward: boolean): void {
    if (!packets) return;
    pause();
    seek(event(packets, time, forward), true);
  }

  function pause(): void {
    if (playing && packets) said.textContent = `Paused at ${clock(time)}. ${words.textContent}`;
    playing = false;
    play.textContent = "Play";
  }

  function start(): void {
    if (!packets) return;
    if (time >= packets.to) seek(packets.from, false);
    playing = true;
    play.textContent = "Pause";
    let last = performance.now();
    const picture = (now: number) => {
      if (!playing || !packets || !board.isConnected) return;
      const passed = (now - last) / 1e3;
      if (!calm.matches || passed >= CALM) {
        last = now;
        seek(time + passed * Number(speed.value), false);
        if (time >= packets.to) return pause();
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
    if (!packets) return;
    const [soft, line, strong, paper] = ["--soft", "--line", "--ink", "--paper"].map((name) =>
      themeColour(name, context.canvas),
    ) as [string, string, string, string];
    const { links } = packets.scenario;
    const moment = at(packets, time, after());
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
    for (const { packet, share } of moment.moving) {
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
    stacks(context, moment, way, soft);
    for (const packet of moment.lost) {
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
    pause,
    show(next) {
      pause();
      packets = next;
      flows = flowsOf(next);
      const list = placed(next, flows);
      nodes = new Map(list.map((node) => [node.name, node]));
      const columns = new Map<number, number>();
      for (const { x } of list) columns.set(x, (columns.get(x) ?? 0) + 1);
      rows = Math.max(1, ...columns.values());
      const wanted = (next.to - next.from) / WHOLE;
      const near = SPEEDS.reduce((best, value) =>
        Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(best / wanted)) ? value : best,
      );
      speed.value = String(near);
      fill(
        colours,
        flows.map((flow, index) => {
          const sign = h("span", { class: "sign square", "aria-hidden": true });
          sign.style.background = colour(index);
          return h("li", {}, sign, next.scenario.flows[flow]!);
        }),
        new Set(next.packets.map(({ flow }) => flow)).size > flows.length &&
          h("li", {}, "The packets of more flows are drawn only where they wait."),
      );
      seek(next.from, false);
    },
  };
}
