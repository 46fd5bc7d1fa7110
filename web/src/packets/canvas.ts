// A canvas as wide as its place, sharp on every screen, redrawn when its size or the colours change.
import { dark } from "../charts/colours.ts";

/** Draws on a canvas of this size, in CSS pixels. */
export type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

/** Makes a canvas in `place`, with a function that redraws it soon. */
export function sheet(
  place: HTMLElement,
  height: () => number,
  draw: Draw,
): { canvas: HTMLCanvasElement; redraw: () => void } {
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
  new ResizeObserver(redraw).observe(place);
  dark.subscribe(redraw);
  onResolution(redraw);
  return { canvas, redraw };
}

/** Calls back when the screen's pixels get another size, for instance on another screen. */
export function onResolution(listener: () => void): void {
  const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  query.addEventListener(
    "change",
    () => {
      listener();
      onResolution(listener);
    },
    { once: true },
  );
}

/** A text cut to a width. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}
