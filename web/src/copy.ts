// Texts for the clipboard.

/** Copies a text; the message for the reader, `other` if the browser refuses. */
export async function copy(text: string, done: string, other: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return done;
  } catch {
    return other;
  }
}
