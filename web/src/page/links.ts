// Links into folded sections, and commands to copy.
import { copy } from "../copy.ts";

/** Opens the folded section that the address names, now and at every link. */
export function mountLinks(): void {
  reveal();
  addEventListener("hashchange", reveal);
}

function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let each: Element | null = target; each; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) each.open = true;
  }
  target.querySelector("details")?.setAttribute("open", "");
  target.scrollIntoView();
}

/** Gives every command in the page a button that copies it. */
export function mountCommands(): void {
  for (const command of document.querySelectorAll<HTMLElement>("code.command")) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy" });
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      button.textContent = await copy(command.textContent, "Copied", "The browser did not copy it.");
    });
    command.after(" ", button);
  }
}
