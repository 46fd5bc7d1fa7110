// The playground: puts the parts of the page together.
import { h } from "../dom.ts";
import { connect } from "../engine/connect.ts";

const engine = connect();
document.getElementById("page")!.replaceChildren(h("p", {}, engine ? "Engine found." : "No engine."));
