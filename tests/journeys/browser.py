"""A page in headless Chromium, spoken to over a pipe: what it logs, how wide it is, what it looks like."""

import base64
import json
import os
import re
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One tab. `look` loads a page in a given width and colour scheme."""

    def __init__(self, profile):
        read_end, self._to = os.pipe()
        self._from, write_end = os.pipe()
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--remote-debugging-pipe", "--no-first-run", f"--user-data-dir={profile}", "about:blank"]
        # Chromium reads commands from descriptor 3 and writes to 4.
        wire = f'exec 3<&{read_end} 4>&{write_end}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", wire, "bash", *command],
            pass_fds=(read_end, write_end),
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)
        self._buffer, self._count, self.logged = b"", 0, []
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._tab(f"{domain}.enable")

    def look(self, path, width, scheme="light", media="screen"):
        """Load a file; afterwards `logged` holds what the console said and every address that was fetched."""
        self.logged = []
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self._tab("Emulation.setDeviceMetricsOverride", **metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._tab("Emulation.setEmulatedMedia", media=media, features=features)
        self._tab("Page.navigate", url=path.resolve().as_uri())
        while not any(m.get("method") == "Page.loadEventFired" for m in self.logged):
            self.logged.append(self._receive())

    def value(self, expression):
        """What a JavaScript expression gives on the page."""
        return self._tab("Runtime.evaluate", expression=expression, returnByValue=True)["result"]["value"]

    def faults(self):
        """Console messages, log entries, exceptions, and anything fetched from elsewhere."""
        bad = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        found = [m for m in self.logged if m.get("method") in bad]
        asked = [m["params"]["request"]["url"] for m in self.logged if m.get("method") == "Network.requestWillBeSent"]
        return found + [url for url in asked if not url.startswith(("file:", "data:"))]

    def screenshot(self, path):
        """The whole page as PNG."""
        data = self._tab("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def printed(self):
        """How many pages of paper it takes."""
        data = base64.b64decode(self._tab("Page.printToPDF", preferCSSPageSize=True)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", data))

    def close(self):
        os.close(self._to)
        self._process.terminate()
        self._process.wait(10)
        os.close(self._from)

    def _tab(self, method, **params):
        return self._call(method, self._session, **params)

    def _call(self, method, session=None, **params):
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        os.write(self._to, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._count:
            self.logged.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser went away")
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)
