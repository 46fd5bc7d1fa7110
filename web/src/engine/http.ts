// The native engine behind `ackclock serve`: the same requests and frames over HTTP.
import { type Answers, decode, type Engine, EngineFailure, type Frame, type Request } from "./protocol.ts";

/** Makes an engine that asks the page's own server; `session` is the token that the server wrote into the page. */
export function httpEngine(address: string, session: string): Engine {
  const closed = new AbortController();
  return {
    kind: "http",
    async ask<R extends Request>(request: R): Promise<Frame<Answers[R["do"]]>> {
      let response: Response;
      try {
        response = await fetch(address, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Ackclock-Session": session },
          body: JSON.stringify(request),
          signal: closed.signal,
        });
      } catch (error) {
        throw new EngineFailure(
          closed.signal.aborted
            ? "the engine was closed"
            : `the server does not answer: ${error instanceof Error ? error.message : error}. Is \`ackclock serve\` still running?`,
        );
      }
      if (!response.ok) {
        const reason = (await response.text().catch(() => "")).trim();
        throw new EngineFailure(reason || `the server answers ${response.status}`);
      }
      return decode(await response.arrayBuffer());
    },
    close() {
      closed.abort();
    },
  };
}
