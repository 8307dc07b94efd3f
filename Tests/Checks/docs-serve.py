#!/usr/bin/env python3
"""Serves the built documentation on loopback, to this machine alone, until it is interrupted.
usage: docs-serve.py ARCHIVE [PORT]    (a free one without)"""
import functools
import http.server
import pathlib
import sys

FRONT = "/documentation/uvfutures"
archive = pathlib.Path(sys.argv[1]).resolve()


class Handler(http.server.SimpleHTTPRequestHandler):
    def send_head(self):
        """Nothing outside of the archive is sent, behind a symbolic link neither."""
        if self.path == "/":
            self.send_response(302)
            self.send_header("Location", FRONT)
            return self.end_headers()
        path = pathlib.Path(self.translate_path(self.path)).resolve()
        if not path.is_relative_to(archive):
            return self.send_error(403)
        # The pages are one program, that looks at the address to know which of them it is.
        if not path.is_file() and self.path.startswith(("/documentation/", "/tutorials/")):
            self.path = "/index.html"
        return super().send_head()

    def log_message(self, *arguments):
        pass


if not (archive / "index.html").is_file():
    sys.exit(f"{sys.argv[1]} is not built")
port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=archive))
print(f"http://127.0.0.1:{server.server_port}{FRONT}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
