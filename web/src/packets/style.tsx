// How packets look in the diagram and in the animation.
import type { JSX } from "preact";
import { colour } from "../charts/colours.ts";
import { themeColour } from "../charts/panel.ts";
import type { Packet } from "./packets.ts";

/** Colour of a packet in the diagram of one flow. Retransmissions are dashed as well, and losses are crosses. */
export function ink(packet: Packet, place: Element): string {
  if (packet.retransmission) return colour(1);
  if (packet.ecn === "CE") return colour(3);
  return packet.kind === "ack" ? themeColour("--soft", place) : colour(0);
}

/** Draws a cross. */
export function cross(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  context.strokeStyle = themeColour("--bad", context.canvas);
  context.lineWidth = 2;
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x - size, y + size);
  context.lineTo(x + size, y - size);
  context.stroke();
}

/** A legend: signs drawn by the style sheet, and their meaning. */
export function Legend({ signs }: { signs: { [sign: string]: string } }): JSX.Element {
  return (
    <ul class="signs" aria-label="Signs">
      {Object.entries(signs).map(([sign, text]) => (
        <li>
          <span class={`sign ${sign}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}
