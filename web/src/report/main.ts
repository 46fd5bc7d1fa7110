// Brings a report to life: its figures run again, and its claims are judged again, by the engine that the page contains.
import { mountAgain } from "./again.ts";
import { mountClaim } from "./claims.ts";
import type { LiveData } from "./data.ts";
import type { Host } from "./host.ts";
import { Laboratory } from "./laboratory.ts";

declare global {
  var ackclockReport: Host | undefined;
}

async function start(host: Host): Promise<void> {
  const data: LiveData = JSON.parse(await host.unpack("live"));
  const laboratory = new Laboratory(data, document.getElementById("engine")!.textContent!.trim());
  for (const figure of host.figures) mountAgain(host, figure, laboratory);
  const claims = new Map(data.claims.map((claim) => [claim.id, claim]));
  for (const element of document.querySelectorAll<HTMLElement>(".judge[data-claim]")) {
    const claim = claims.get(element.dataset["claim"]!);
    if (claim) mountClaim(element, claim, laboratory);
  }
  document.documentElement.dataset["live"] = "yes";
}

if (globalThis.ackclockReport) void start(globalThis.ackclockReport);
