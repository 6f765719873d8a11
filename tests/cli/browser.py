"""A real browser for the tests of the page: Chromium, without a window, told what to do over its pipe (the DevTools
protocol, a JSON message and a zero byte each way)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import skip

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LIMIT_S = 60


def find():
    """The browser's path; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def started():
    """A browser, which closes as a context does; where there is none, or none that starts, the case is skipped."""
    if not find():
        skip("no browser; tools/setup.sh check installs one")
    try:
        return Browser()
    except RuntimeError as problem:
        skip(f"{find()} does not start: {problem}")


class Browser:
    """with started() as b: b.open(file), b.value("document.title"); what went wrong on the way is in b.complaints."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="astra-browser-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # Chromium reads descriptor 3 and writes 4; /bin/sh puts them there.
        command = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                   "--force-color-profile=srgb", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(["/bin/sh", "-c", f'exec "$@" 3<&{to_read} 4>&{back_write}', "sh", *command],
                                        pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.pending, self.events, self.number, self.session = b"", [], 0, None
        self.complaints, self.requests = [], []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        """The next message."""
        end = time.monotonic() + LIMIT_S
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            part = os.read(self.back, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser is gone" if ready else "the browser does not answer")
            self.pending += part
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """An event: what is wrong is kept."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:400])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console.{params['type']}: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        self.events.append(method)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") != self.number:
                self.note(reply)
            elif "error" in reply:
                raise RuntimeError(f"{method}: {reply['error']['message']}")
            else:
                return reply["result"]

    def wait_for(self, event):
        while event not in self.events:
            self.note(self.receive())

    def show(self, width=1280, dark=False, media=""):
        """How the page is looked at."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, fragment=""):
        self.events.clear()
        self.call("Page.navigate", url="about:blank")  # the same file with another fragment would not be loaded again
        self.wait_for("Page.loadEventFired")
        self.events.clear()
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        """What JavaScript makes of it, as JSON."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:600])
        return done["result"].get("value")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39}[key])

    def screenshot(self, path):
        """The whole page as a PNG."""
        size = self.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        done = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size[0], "height": min(size[1], 16000), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(done["data"]))
