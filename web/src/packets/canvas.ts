// A canvas as wide as its place, sharp on every screen, redrawn when its size or the colours change.
import { dark } from "../charts/colours.ts";

/** Draws on a canvas of this size, in CSS pixels. */
export type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

/** Makes a canvas in `place`, with functions that redraw it soon and that remove it. */
export function sheet(
  place: HTMLElement,
  height: () => number,
  draw: Draw,
): { canvas: HTMLCanvasElement; redraw: () => void; end: () => void } {
  const canvas = document.createElement("canvas");
  canvas.ariaHidden = "true";
  place.append(canvas);
  let waiting = false;
  const paint = () => {
    waiting = false;
    const [wide, high] = [place.clientWidth, height()];
    if (wide === 0) return;
    const scale = devicePixelRatio;
    const [across, down] = [Math.round(wide * scale), Math.round(high * scale)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, wide, high);
    draw(context, wide, high);
  };
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(paint);
  };
  const sizes = new ResizeObserver(redraw);
  sizes.observe(place);
  const ends = [() => sizes.disconnect(), dark.subscribe(redraw), onResolution(redraw), () => canvas.remove()];
  const end = () => {
    for (const each of ends) each();
  };
  return { canvas, redraw, end };
}

/** Calls back when the screen's pixels get another size, for instance on another screen. Returns a function that ends this. */
export function onResolution(listener: () => void): () => void {
  const end = new AbortController();
  const wait = () => {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const changed = () => {
      listener();
      wait();
    };
    query.addEventListener("change", changed, { once: true, signal: end.signal });
  };
  wait();
  return () => end.abort();
}

/** A text cut to a width. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}
