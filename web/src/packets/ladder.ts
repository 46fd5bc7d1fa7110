// The layout of a time–sequence diagram: nodes are vertical lines, time runs down, packets are slanted lines. A packet that waits is a piece of
// its node's line.
import { gone, nodesOf, type Packet, type Packets } from "./packets.ts";

/** A packet as lines in units of nodes (across) and seconds (down). */
export interface Line {
  packet: Packet;
  /** Position of the node that it leaves, and of the node to which it goes. */
  from: number;
  to: number;
  /** Time at which it enters the queue, starts, and ends. */
  entered: number;
  left: number | undefined;
  end: number;
  /** Position at the end: the other node, or where it was lost. */
  reached: number;
  lost: boolean;
}

/** The diagram of a flow. */
export interface Ladder {
  nodes: string[];
  /** In the order of their entrance. */
  lines: Line[];
}

/** Share of a link at which a packet that its queue drops is drawn, and one that the loss model drops on its way. */
const AT_QUEUE = 0.06;
const ON_WAY = 0.88;

/** Lays out the packets of a flow. */
export function ladder(packets: Packets, flow: number): Ladder {
  const nodes = nodesOf(flow, packets);
  const lines: Line[] = [];
  for (const packet of packets.packets) {
    if (packet.flow !== flow) continue;
    const link = packets.scenario.links[packet.link]!;
    const [from, to] = [nodes.indexOf(link.from), nodes.indexOf(link.to)];
    const { entered, left, arrived, dropped } = packet;
    const lost = dropped !== undefined;
    const end = dropped ?? arrived ?? packets.to;
    const share = !lost ? (arrived === undefined ? 0 : 1) : left === undefined ? AT_QUEUE : ON_WAY;
    lines.push({ packet, from, to, entered, left, end, reached: from + (to - from) * share, lost });
  }
  return { nodes, lines };
}

/** The lines that touch a span of time. */
export function visible(lines: Line[], from: number, to: number): Line[] {
  return lines.filter(({ packet, entered }) => entered <= to && gone(packet) >= from);
}

/** The backlog of a link's queue: at each time, the number of packets that wait from then on. */
export interface Backlog {
  /** Position of the link's two nodes. */
  from: number;
  to: number;
  steps: [time: number, packets: number][];
  most: number;
}

/** The backlogs of the queues on a flow's way, with the packets of all flows. */
export function backlogs({ nodes }: Ladder, { packets, scenario, to: end }: Packets): Backlog[] {
  const changes = new Map<number, [time: number, by: number][]>();
  for (const packet of packets) {
    const until = Math.min(packet.left ?? gone(packet), end);
    if (until <= packet.entered) continue;
    const list = changes.get(packet.link) ?? [];
    changes.set(packet.link, list);
    list.push([packet.entered, 1], [until, -1]);
  }
  return [...changes].flatMap(([link, list]) => {
    const [from, to] = [nodes.indexOf(scenario.links[link]!.from), nodes.indexOf(scenario.links[link]!.to)];
    if (from < 0 || to < 0) return [];
    let count = 0;
    const steps = list
      .sort(([a, by], [b, after]) => a - b || by - after)
      .map(([time, by]): [number, number] => {
        count += by;
        return [time, count];
      });
    return [{ from, to, steps, most: Math.max(...steps.map(([, packets]) => packets)) }];
  });
}

/** A window of time, moved and scaled but never beyond `limits`. */
export function zoomed(
  [from, to]: [number, number],
  limits: [number, number],
  factor: number,
  around = (from + to) / 2,
): [number, number] {
  const span = Math.min(limits[1] - limits[0], Math.max(1e-5, (to - from) * factor));
  const share = to > from ? (around - from) / (to - from) : 0.5;
  const start = Math.min(limits[1] - span, Math.max(limits[0], around - share * span));
  return [start, start + span];
}

/** The window moved by a share of itself. */
export function moved([from, to]: [number, number], limits: [number, number], share: number): [number, number] {
  const span = to - from;
  const start = Math.min(limits[1] - span, Math.max(limits[0], from + share * span));
  return [start, start + span];
}

/** The window to show first: about `few` packets, from the start of `limits` or around the first loss if that comes later. */
export function opening(lines: Line[], limits: [number, number], few: number): [number, number] {
  const [from, to] = limits;
  const first = Math.max(
    0,
    lines.findIndex(({ entered }) => entered >= from),
  );
  const end = Math.min(to, Math.max(lines[first + few]?.entered ?? to, from + (to - from) / 50));
  const loss = Math.min(...lines.filter(({ lost }) => lost).map(({ end }) => end));
  return loss > end && loss <= to ? moved([from, end], limits, (loss - from) / (end - from) - 0.5) : [from, end];
}

/** The line nearest to a point, if it is within `reach` pixels. `x` and `y` turn nodes and seconds into pixels. */
export function nearest(
  lines: Line[],
  [px, py]: [number, number],
  x: (node: number) => number,
  y: (time: number) => number,
  reach: number,
): Line | undefined {
  let best: Line | undefined;
  let least = reach;
  for (const line of lines) {
    const start = line.left ?? line.end;
    const slanted = distance([px, py], [x(line.from), y(start)], [x(line.reached), y(line.end)]);
    const waiting =
      start > line.entered ? distance([px, py], [x(line.from), y(line.entered)], [x(line.from), y(start)]) : reach;
    const here = Math.min(slanted, waiting + 1);
    if (here < least) {
      least = here;
      best = line;
    }
  }
  return best;
}

/** The distance of a point from a segment. */
export function distance([px, py]: [number, number], [ax, ay]: [number, number], [bx, by]: [number, number]): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / length));
  return Math.hypot(px - ax - share * dx, py - ay - share * dy);
}

/** Decimals that tell times apart which are this far from each other. */
export function decimals(step: number): number {
  return Math.max(0, Math.min(7, -Math.floor(Math.log10(step) + 1e-9)));
}

/** Times at round numbers, at most about `most`, between two times. */
export function ticks(from: number, to: number, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from(
    { length: Math.max(0, Math.floor(to / step + 1e-9) - first + 1) },
    (_, index) => (first + index) * step,
  );
}
