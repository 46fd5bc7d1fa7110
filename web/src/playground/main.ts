// The playground: puts the parts of the page together.
import { h } from "../dom.ts";
import { connect } from "../engine/connect.ts";

async function start(page: HTMLElement): Promise<void> {
  const engine = await connect();
  page.replaceChildren(h("p", {}, engine ? "Engine found." : "No engine."));
}

void start(document.getElementById("page")!);
