// An SVG as PNG, and files for the reader. Nothing leaves the browser.

/** Draws an SVG of known size at `scale` pixels per pixel. */
export async function png(svg: string, scale = 2): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.naturalWidth * scale);
    canvas.height = Math.round(image.naturalHeight * scale);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser gives no canvas to draw the image on. Export SVG instead.");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) =>
        blob ? resolve(blob) : reject(new Error("The image is too large for this browser. Export SVG instead.")),
      ),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Offers a file to the reader. */
export function download(name: string, parts: (string | Blob)[], type = "text/plain;charset=utf-8"): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after this task.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
