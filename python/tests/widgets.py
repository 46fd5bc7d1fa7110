"""A widget's front end in a browser: a small fake of anywidget's model, with a real engine behind it."""

from __future__ import annotations

import base64
import json
from typing import Any

from ackclock import _core
from ackclock.playground.notebook import Widget, packed_engine

MODEL = """
([esm, traits]) => {
  const listeners = new Map();
  const of = (event) => listeners.get(event) ?? listeners.set(event, new Set()).get(event);
  const model = {
    changed: 0,
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes: () => { model.changed += 1; },
    on: (event, listener) => of(event).add(listener),
    off: (event, listener) => of(event).delete(listener),
    async send(content) {
      const { message, frame } = JSON.parse(await window.kernel(JSON.stringify(content)));
      const bytes = frame === null ? [] : [Uint8Array.from(atob(frame), (letter) => letter.charCodeAt(0))];
      for (const listener of [...of("msg:custom")]) listener(message, bytes.map((it) => new DataView(it.buffer)));
    },
    fromKernel(name, value) {
      traits[name] = value;
      for (const listener of [...of(`change:${name}`)]) listener();
    },
  };
  window.model = model;
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  return import(url).then(async (module) => {
    // As in Jupyter, the element comes into the page later.
    const el = document.createElement("div");
    const rendered = module.default.render({ model, el });
    setTimeout(() => document.getElementById("cell").append(el), 50);
    window.end = await rendered;
  });
}
"""
PAGE = "<!doctype html><title>cell</title><body style='margin: 8px; background: {back}'><div id='cell'></div>"


class Shown:
    """A widget in a page of the browser.

    Parameters
    ----------
    browser
        The browser.
    widget
        The widget, whose traits the front end gets at the beginning.
    kind
        ``wasm`` or ``kernel``.
    width
        Width of the window, in pixels.
    back
        Colour of the notebook.
    """

    def __init__(self, browser: Any, widget: Widget, kind: str, width: int = 1100, back: str = "white") -> None:
        self.laboratory = _core.Laboratory()
        self.asked: list[str] = []
        self.kind = kind
        self.page = browser.new_page(viewport={"width": width, "height": 1000})
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.expose_function("kernel", self._answer)
        self.page.set_content(PAGE.format(back=back))
        traits = {name: getattr(widget, name) for name in ("text", "_first", "_options", "finished")}
        self.page.evaluate(MODEL, [widget._esm, traits])

    def _answer(self, text: str) -> str:
        content = json.loads(text)
        if content["kind"] == "engine":
            engine = packed_engine() if self.kind == "wasm" else None
            return json.dumps({"message": {"kind": "engine", "base64": engine}, "frame": None})
        self.asked.append(content["request"]["do"])
        frame = self.laboratory.handle(json.dumps(content["request"]))
        message = {"kind": "frame", "id": content["id"]}
        return json.dumps({"message": message, "frame": base64.b64encode(frame).decode()})

    def trait(self, name: str) -> Any:
        """Return a trait as the front end has it."""
        return self.page.evaluate("(name) => window.model.get(name)", name)

    def wait_for_run(self, before: str | None = None) -> str:
        """Wait until a run has ended whose events differ from `before`; return their hash."""
        script = """(before) => {
          const hash = window.model.get("finished").trace_hash;
          return hash && hash !== before ? hash : null;
        }"""
        return str(self.page.wait_for_function(script, arg=before, timeout=30_000).json_value())

    def picture(self, chart: int) -> str:
        """Return the pixels of a chart."""
        self.page.wait_for_timeout(100)
        canvas = self.page.locator("canvas").nth(chart)
        return str(canvas.evaluate("(it) => it.toDataURL()"))

    @property
    def foreign(self) -> list[str]:
        """Requests that left the page."""
        return [url for url in self.requests if not url.startswith(("data:", "blob:", "about:"))]
