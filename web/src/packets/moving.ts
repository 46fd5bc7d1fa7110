// Where every packet is at a time, and where the nodes are: what the animation draws.
import { gone, nodesOf, type Packet, type Packets } from "./packets.ts";

/** A node, in shares of the drawing's width and height. */
export interface Node {
  name: string;
  x: number;
  y: number;
}

/** Most flows whose nodes are drawn. */
export const MOST_FLOWS = 8;

/** The flows whose packets are drawn: the first that have packets. */
export function flowsOf({ packets }: Packets): number[] {
  return [...new Set(packets.map(({ flow }) => flow))].sort((a, b) => a - b).slice(0, MOST_FLOWS);
}

/** Places the nodes on the ways of flows: in columns by the distance from the senders. */
export function place(packets: Packets, flows: number[]): Node[] {
  const column = new Map<string, number>();
  for (const flow of flows)
    for (const [index, node] of nodesOf(flow, packets).entries())
      column.set(node, Math.max(column.get(node) ?? 0, index));
  // A longer way pushes the nodes behind it.
  for (let changed = true, rounds = 0; changed && rounds < 50; rounds += 1) {
    changed = false;
    for (const flow of flows) {
      let last = -1;
      for (const node of nodesOf(flow, packets)) {
        const at = Math.max(column.get(node)!, last + 1);
        if (at !== column.get(node)) {
          column.set(node, at);
          changed = true;
        }
        last = at;
      }
    }
  }
  const widest = Math.max(1, ...column.values());
  return [...column].map(([name, index]) => {
    const row = [...column.keys()].filter((node) => column.get(node) === index);
    return { name, x: index / widest, y: (row.indexOf(name) + 0.5) / row.length };
  });
}

/** The packets of a moment. */
export interface Moment {
  /** Packets that wait, by link, the first to leave first. */
  waiting: Map<number, Packet[]>;
  /** Packets on the way, with the share of the way behind them. */
  moving: { packet: Packet; share: number }[];
  /** Packets lost shortly before. */
  lost: Packet[];
}

/** The moment `time`. Losses stay visible for `after` seconds. */
export function at({ packets }: Packets, time: number, after: number): Moment {
  const waiting = new Map<number, Packet[]>();
  const moving: Moment["moving"] = [];
  const lost: Packet[] = [];
  for (const packet of packets) {
    if (packet.entered > time) break;
    const { left, dropped } = packet;
    if (dropped !== undefined && dropped <= time) {
      if (time - dropped <= after) lost.push(packet);
    } else if (left === undefined || left > time) {
      if (gone(packet) > time) waiting.set(packet.link, [...(waiting.get(packet.link) ?? []), packet]);
    } else if (gone(packet) > time) {
      moving.push({ packet, share: (time - left) / (gone(packet) - left) });
    }
  }
  const order = (packet: Packet) => packet.left ?? Number.POSITIVE_INFINITY;
  for (const queue of waiting.values()) queue.sort((a, b) => order(a) - order(b) || a.entered - b.entered);
  return { waiting, moving, lost };
}

/** The next or last time before or after `time` at which something happens to a packet of the list. */
export function event(packets: Packets, time: number, forward: boolean): number {
  let best = forward ? packets.to : packets.from;
  for (const { entered, left, arrived, dropped } of packets.packets)
    for (const when of [entered, left, dropped ?? arrived]) {
      if (when === undefined || when < packets.from || when > packets.to) continue;
      if (forward ? when > time + 1e-9 && when < best : when < time - 1e-9 && when > best) best = when;
    }
  return best;
}

const amount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A moment in words. */
export function told(moment: Moment, packets: Packets): string {
  const { links } = packets.scenario;
  const queues = [...moment.waiting].map(([link, queue]) => `${queue.length} in the queue of ${links[link]!.name}`);
  const count = (kind: Packet["kind"]) => moment.moving.filter(({ packet }) => packet.kind === kind).length;
  const lost = moment.lost.map(({ link }) => links[link]!.name);
  return [
    `On the way: ${amount(count("data"), "data packet")} and ${amount(count("ack"), "ACK")}`,
    queues.length > 0 ? `waiting: ${queues.join(", ")}` : "no packet waits",
    ...(lost.length > 0 ? [`just lost: ${lost.length} on ${[...new Set(lost)].join(", ")}`] : []),
  ].join("; ");
}
