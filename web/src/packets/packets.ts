// The packets of a part of a run, as the engine answers them.
import type { Frame, LinkInfo, ScenarioInfo, TablePlace } from "../engine/protocol.ts";

/** A packet on one link. Times are in seconds. */
export interface Packet {
  /** Position in the list of packets. */
  index: number;
  /** Indices into the scenario's links and flows. */
  link: number;
  flow: number;
  kind: "data" | "ack";
  source: "sender" | "receiver";
  /** Number of the segment, or of the segment that an ACK expects. */
  number: number;
  /** Bytes with headers. */
  size: number;
  retransmission: boolean;
  ecn: "Not-ECT" | "ECT(1)" | "ECT(0)" | "CE";
  /** Arrival at the queue. */
  entered: number;
  /** Start of the transmission; undefined: lost before it, or still waiting at the end of the run. */
  left: number | undefined;
  /** Arrival at the other end; undefined: lost, or still waiting. */
  arrived: number | undefined;
  /** Time of the loss. */
  dropped: number | undefined;
  /** Why it was lost. */
  reason: string;
}

/** The header of the answer to `packets`. */
export interface PacketsAnswer {
  scenario: ScenarioInfo;
  from: number;
  to: number;
  /** If there were too many packets: the time before which the list is complete. */
  missing_from: number | null;
  packets: TablePlace;
}

/** The packets of a part of a run. */
export interface Packets {
  scenario: ScenarioInfo;
  from: number;
  /** End of the part that is complete. */
  to: number;
  /** Whether packets after `to` were left out. */
  cut: boolean;
  packets: Packet[];
}

/** Reads an answer. */
export function read(frame: Frame<PacketsAnswer>): Packets {
  const { scenario, from, to, missing_from, packets: table } = frame.header;
  const columns = frame.columns(table);
  const words = Object.fromEntries(table.columns.map(({ name, words }) => [name, words ?? []]));
  const word = (name: string, row: number) => words[name]![columns[name]![row]!]!;
  const time = (name: string, row: number) => {
    const value = columns[name]![row]!;
    return Number.isNaN(value) ? undefined : value;
  };
  const packets = Array.from(
    { length: table.rows },
    (_, row): Packet => ({
      index: row,
      link: columns["link"]![row]!,
      flow: columns["flow"]![row]!,
      kind: word("kind", row) as Packet["kind"],
      source: word("source", row) as Packet["source"],
      number: columns["number"]![row]!,
      size: columns["size"]![row]!,
      retransmission: word("retransmission", row) === "yes",
      ecn: word("ecn", row) as Packet["ecn"],
      entered: columns["entered"]![row]!,
      left: time("left", row),
      arrived: time("arrived", row),
      dropped: time("dropped", row),
      reason: word("reason", row),
    }),
  );
  const complete = missing_from === null ? to : Math.min(to, Math.max(from, missing_from));
  return { scenario, from, to: complete, cut: missing_from !== null, packets };
}

/** When a packet is no longer on its link; infinite if it still waits at the end of the run. */
export function gone({ arrived, dropped }: Packet): number {
  return dropped ?? arrived ?? Number.POSITIVE_INFINITY;
}

const milliseconds = (seconds: number) => `${(seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 1)} ms`;

/** A time of the run, to the tenth of a millisecond. */
export const clock = (seconds: number) => `${seconds.toFixed(4)} s`;

/** A packet in words. */
export function described(packet: Packet, { flows, links }: ScenarioInfo): string {
  const { entered, left, arrived, dropped } = packet;
  const name =
    packet.kind === "ack"
      ? `ACK that expects ${packet.number}`
      : packet.number === 0
        ? "SYN"
        : `${packet.retransmission ? "Retransmission of segment" : "Segment"} ${packet.number}`;
  const where = `${flows[packet.flow]}, ${packet.size} B, ${links[packet.link]!.name}`;
  const marked = packet.ecn === "CE" ? ", marked" : "";
  const wait =
    left === undefined ? "" : left > entered ? ` Waited ${milliseconds(left - entered)}.` : " Sent without waiting.";
  const end =
    dropped !== undefined
      ? ` Lost at ${clock(dropped)} (${packet.reason}).`
      : arrived !== undefined
        ? ` Arrived at ${clock(arrived)}.`
        : " Still waiting at the end of the run.";
  return `${name} (${where}${marked}). Entered at ${clock(entered)}.${wait}${end}`;
}

/** The nodes on the way of a flow's data, from sender to receiver, then those that only its ACKs pass. */
export function nodesOf(flow: number, { packets, scenario }: Packets): string[] {
  const used = (source: Packet["source"]) => {
    const links = new Set(packets.filter((p) => p.flow === flow && p.source === source).map((p) => p.link));
    return [...links].map((link) => scenario.links[link]!);
  };
  const way = chain(used("sender"));
  const back = chain(used("receiver")).reverse();
  return [...way, ...back.filter((node) => !way.includes(node))];
}

/** The nodes of links that form a chain, in their order. Links that do not fit follow in the order given. */
function chain(links: LinkInfo[]): string[] {
  const ends = new Set(links.map(({ to }) => to));
  const nodes: string[] = [];
  let node = links.find(({ from }) => !ends.has(from))?.from ?? links[0]?.from;
  while (node !== undefined && !nodes.includes(node)) {
    nodes.push(node);
    const here: string = node;
    node = links.find(({ from }) => from === here)?.to;
  }
  for (const { from, to } of links) for (const end of [from, to]) if (!nodes.includes(end)) nodes.push(end);
  return nodes;
}
