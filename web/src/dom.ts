// Elements without a framework. Texts become text nodes, never HTML.

type Child = Node | string | number | null | undefined | false;
type Properties<Tag extends keyof HTMLElementTagNameMap> = {
  [Key in keyof HTMLElementTagNameMap[Tag]]?: HTMLElementTagNameMap[Tag][Key] extends string ? string : unknown;
} & { [attribute: `aria-${string}` | `data-${string}`]: string | number | boolean | undefined } & {
  class?: string | undefined;
  for?: string | undefined;
  role?: string | undefined;
  on?: { [event: string]: (event: Event) => void };
};

/**
 * Makes an element.
 *
 * `class`, `for`, `role`, `aria-…` and `data-…` are attributes, `on` holds listeners, all others are properties.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value as { [event: string]: EventListener })) {
        element.addEventListener(event, listener);
      }
    } else if (name === "class" || name === "for" || name === "role" || name.includes("-")) {
      element.setAttribute(name, String(value));
    } else {
      Reflect.set(element, name, value);
    }
  }
  fill(element, ...children);
  return element;
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(
    ...children
      .flat()
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : String(child))),
  );
}
