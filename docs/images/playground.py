"""Makes the picture of docs/guides/playground.md, docs/images/playground.png: python docs/images/playground.py.

It needs the built page (`make page`), Chromium and the Python package playwright.
"""

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

COLOURS = 128
server = subprocess.Popen(
    [sys.executable, "-m", "ackclock", "serve", "--port", "0", "--engine", "native"], stdout=subprocess.PIPE, text=True
)
try:
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 960})
        finished = page.get_by_text(re.compile(r"events in"))
        page.goto(url)
        finished.wait_for(timeout=60_000)
        page.get_by_role("button", name="Keep this run").click()
        buffer = page.get_by_role("textbox", name=re.compile("^Buffer"))
        buffer.fill("25 packets")
        buffer.press("Enter")
        page.locator(".numbers").get_by_text("queue 25 packets").first.wait_for()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
finally:
    server.terminate()
small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
small.save(Path(__file__).with_suffix(".png"), optimize=True)
