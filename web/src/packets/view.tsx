// The packets of a chosen time: which time, which flow, as a diagram or as an animation.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Option, Select, Toggle, Toggles } from "../controls.tsx";
import { type Engine, reason } from "../engine/protocol.ts";
import { Animation } from "./animation.tsx";
import { Diagram } from "./diagram.tsx";
import { type Packets, read } from "./packets.ts";

/** The scenario whose packets the reader can ask for, and the time. */
interface Wanted {
  /** The scenario, as TOML. */
  text: string;
  /** Seconds. */
  from: number;
  to: number;
}

/** The packets that are shown, and the text of their scenario. */
interface Shown {
  packets: Packets;
  text: string;
  flows: number[];
}

/** Most packets of an answer: what a page draws without delay. */
const MOST = 20_000;

const written = (seconds: number): string => String(Number(seconds.toPrecision(6)));

/** The packets. The times follow those that the page shows, but the reader asks for the packets. */
export function PacketViews({ engine, text, from, to }: Wanted & { engine: Engine }): JSX.Element {
  const [times, setTimes] = useState<[from: string, to: string]>(["0", "1"]);
  const [shown, setShown] = useState<Shown>();
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => setTimes([written(from), written(to)]), [from, to]);
  const asked = useRef(0);

  async function ask(event: Event): Promise<void> {
    event.preventDefault();
    const mine = ++asked.current;
    setBusy(true);
    setFault("");
    try {
      const [from, to] = times.map(Number) as [number, number];
      const packets = read(await engine.ask({ do: "packets", text, from, to, most: MOST }));
      if (mine !== asked.current) return;
      const flows = [...new Set(packets.packets.map(({ flow }) => flow))].sort((a, b) => a - b);
      setShown({ packets, text, flows });
    } catch (error) {
      if (mine === asked.current) setFault(reason(error));
    } finally {
      if (mine === asked.current) setBusy(false);
    }
  }

  const field = (text: string, label: string, at: 0 | 1) => (
    <label>
      {text}{" "}
      <input
        {...{ type: "number", min: "0", step: "any", required: true, class: "time" }}
        aria-label={label}
        value={times[at]}
        onInput={({ currentTarget: { value } }) => setTimes(at === 0 ? [value, times[1]] : [times[0], value])}
      />{" "}
      s
    </label>
  );
  const stale = shown !== undefined && shown.text !== text;
  return (
    <section class="card packets" aria-label="Packets">
      <h2>Packets</h2>
      <p class="soft">Every packet on every link in a part of the run. Mark a time in a chart, or write it here.</p>
      <form class="tools" onSubmit={ask}>
        {field("From", "From, in seconds", 0)}
        {field("to", "To, in seconds", 1)}
        <button class="primary" type="submit" disabled={busy}>
          Show packets
        </button>
      </form>
      <p class="soft note" role="status">
        {fault || (shown && noteOf(shown, stale))}
      </p>
      {shown && <Views {...{ shown, stale }} />}
    </section>
  );
}

function noteOf({ packets, flows }: Shown, stale: boolean): string {
  if (stale) return "The scenario has changed: these are packets of the run before.";
  if (flows.length === 0) return "No packet is on a link in this time.";
  if (!packets.cut) return "";
  return `Only the packets until ${packets.to.toPrecision(4)} s: there are more than ${MOST.toLocaleString("en")}.`;
}

/** `stale` packets are of a scenario that has changed since. */
function Views({ shown: { packets, flows }, stale }: { shown: Shown; stale: boolean }): JSX.Element {
  const [picked, setPicked] = useState<number>();
  const [moving, setMoving] = useState(false);
  // The flow of the first loss, until the reader chooses.
  const lost = packets.packets.filter(({ dropped }) => dropped !== undefined);
  const first = lost.reduce((one, other) => (one && one.dropped! <= other.dropped! ? one : other), lost[0]);
  const flow = picked !== undefined && flows.includes(picked) ? picked : (first?.flow ?? flows[0] ?? 0);
  return (
    <div class={stale ? "views stale" : "views"} hidden={flows.length === 0}>
      <div class="tools">
        <Toggles label="View">
          <Toggle pressed={!moving} onClick={() => setMoving(false)}>
            Diagram
          </Toggle>
          <Toggle pressed={moving} onClick={() => setMoving(true)}>
            Animation
          </Toggle>
        </Toggles>
        <label class="choice" hidden={moving}>
          Flow
          <Select
            label="Flow"
            value={flow}
            options={flows.map((index): Option => [index, packets.scenario.flows[index]!])}
            onPick={(index) => setPicked(Number(index))}
          />
        </label>
      </div>
      <div hidden={moving}>
        <Diagram packets={packets} flow={flow} />
      </div>
      <Animation packets={packets} hidden={!moving} stale={stale} />
    </div>
  );
}
