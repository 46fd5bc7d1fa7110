// A task that a button starts: progress, a button that stops it, and its message.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { reason } from "../engine/protocol.ts";

type Work = (signal: AbortSignal, progress: (share: number) => void) => Promise<string>;
type Properties = { label: string; work: Work; further: { [label: string]: () => Promise<string> } };

/** The buttons. `work` reports the share that is done; it and the `further` actions return what the reader sees at their end. */
export function Task({ label, work, further }: Properties): JSX.Element {
  const [share, progress] = useState<number>();
  const [{ text, wrong }, setMessage] = useState({ text: "", wrong: false });
  const running = useRef(new AbortController());
  const say = (text: string, wrong = false) => setMessage({ text, wrong });
  const act = (work: () => Promise<string>) => work().then(say, (error) => say(reason(error), true));
  const run = async () => {
    running.current = new AbortController();
    const { signal } = running.current;
    progress(0);
    say("");
    await act(() => work(signal, progress).then((text) => (signal.aborted ? "Stopped." : text)));
    progress(undefined);
  };
  const idle = share === undefined;
  const others = Object.entries(further).map(([text, work]) => <button onClick={() => act(work)} children={text} />);
  return (
    <div>
      <div class="again-buttons">
        <button class="again-start" disabled={!idle} onClick={() => void run()}>
          {label}
        </button>
        <button hidden={idle} onClick={() => running.current.abort()}>
          Stop
        </button>
        {others}
        <progress max={1} value={share ?? 0} hidden={idle} aria-label="Progress" />
      </div>
      <p class={wrong ? "again-said note" : "again-said"} role="status">
        {text}
      </p>
    </div>
  );
}
