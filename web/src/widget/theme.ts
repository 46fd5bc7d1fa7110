// The theme of the page around a widget: notebooks have themes that the system's preference does not tell.

/** Whether the background behind an element is dark. */
export function isDark(element: Element): boolean {
  for (let at: Element | null = element; at; at = parent(at)) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (red === undefined || green === undefined || blue === undefined || alpha < 0.5) continue;
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return (
    matchMedia("(prefers-color-scheme: dark)").matches &&
    getComputedStyle(document.documentElement).colorScheme.includes("dark")
  );
}

function parent(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

/**
 * Calls back when an element has come into the page, and after changes that may be a new theme.
 *
 * Returns a function that ends this.
 */
export function onTheme(element: Element, listener: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(() => setTimeout(listener, 50));
  const attributes = {
    attributes: true,
    attributeFilter: ["class", "style", "theme", "data-theme", "data-jp-theme-name"],
  };
  observer.observe(document.documentElement, attributes);
  observer.observe(document.body, attributes);
  media.addEventListener("change", listener);
  // Notebooks attach an output after it is drawn; only then it has a background.
  const sizes = new ResizeObserver(listener);
  sizes.observe(element);
  return () => {
    observer.disconnect();
    sizes.disconnect();
    media.removeEventListener("change", listener);
  };
}
