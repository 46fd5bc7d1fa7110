// A task that a button starts: progress, a button that stops it, and its message.
import { fill, h } from "../dom.ts";

type Work = (signal: AbortSignal, progress: (share: number) => void) => Promise<string>;

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Makes the buttons. `work` gets the signal that stops it, and reports the share that is done; it and the `further` actions return
 * the message that the reader sees at their end.
 */
export function task(label: string, work: Work, further: { [label: string]: () => Promise<string> }): HTMLElement {
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
  const message = h("p", { class: "again-said", role: "status" });
  const button = (text: string, click: () => void) => h("button", { type: "button", on: { click } }, text);
  let running = new AbortController();
  const stop = button("Stop", () => running.abort());
  const start = button(label, () => void run());
  start.className = "again-start";
  stop.hidden = true;

  async function say(text: () => Promise<string>): Promise<void> {
    const said = await text().catch((error: unknown) => ({ reason: reason(error) }));
    message.classList.toggle("note", typeof said !== "string");
    fill(message, typeof said === "string" ? said : said.reason);
  }

  async function run(): Promise<void> {
    running = new AbortController();
    const { signal } = running;
    start.disabled = true;
    stop.hidden = bar.hidden = false;
    bar.value = 0;
    fill(message);
    await say(async () => {
      const text = await work(signal, (share) => {
        bar.value = share;
      });
      return signal.aborted ? "Stopped." : text;
    });
    start.disabled = false;
    stop.hidden = bar.hidden = true;
  }

  const others = Object.entries(further).map(([text, act]) => button(text, () => void say(act)));
  return h("div", {}, h("div", { class: "again-buttons" }, start, stop, others, bar), message);
}

/** A disclosure whose contents are made when it is opened for the first time. */
export function disclosure(summary: string, make: () => Promise<HTMLElement>): HTMLElement {
  const body = h("div", { class: "again-body" });
  const element = h("details", { class: "small again" }, h("summary", {}, summary), body);
  const open = () =>
    make().then(
      (made) => fill(body, made),
      (error) => fill(body, h("p", { class: "note" }, reason(error))),
    );
  element.addEventListener("toggle", open, { once: true });
  return element;
}
