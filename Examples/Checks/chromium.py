"""Pages of a headless Chromium, by its debugging protocol."""

import asyncio
import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.request

import websockets


class Page:
    """A page of the browser, by its debugging protocol."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0

    async def call(self, method, **parameters):
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            said = json.loads(await asyncio.wait_for(self.socket.recv(), 20))
            if said.get("id") == self.number:
                assert "error" not in said, said
                return said["result"]

    async def value(self, expression):
        said = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    async def photograph(self, path):
        said = await self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(said["data"]))


async def visit(look):
    """Calls `look` with a page that is empty yet."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "there is no Chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # its helpers may write for a moment
        browser = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            for line in browser.stderr:
                if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
                    break
            else:
                raise AssertionError("Chromium does not start")
            pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/json", timeout=10))
            target = next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"]
            async with websockets.connect(target, max_size=None, compression=None) as socket:
                await look(Page(socket))
        finally:
            browser.terminate()
            browser.wait()
