// The worker: waits for the module, then answers requests one after the other. Built as text into the page.
import { instantiate } from "./instance.ts";

interface Message {
  module?: WebAssembly.Module;
  id?: number;
  request?: string;
}

let engine: Promise<(request: string) => Uint8Array<ArrayBuffer>>;

self.addEventListener("message", async (event: MessageEvent<Message>) => {
  const { module, id, request } = event.data;
  if (module) {
    engine = instantiate(module);
    return;
  }
  try {
    const frame = (await engine)(request!);
    postMessage({ id, frame: frame.buffer }, { transfer: [frame.buffer] });
  } catch (error) {
    // A trap leaves the module's memory as it was in the middle of a step: the page drops this worker.
    postMessage({ id, failed: String(error) });
  }
});
