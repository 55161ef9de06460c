"""Show the site in the folder of this file: python3 start.py, until Ctrl-C.

A browser runs Python only for pages from a server, not for files that are opened. Only this
computer can see the pages of this server.
"""

import functools
import http.server
import sys
import webbrowser
from pathlib import Path


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the folder, with its own types for scripts, since Windows may have others."""

    extensions_map = {  # noqa: RUF012, as in the standard library
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_):
        """Do not log requests."""


def main(port=0):
    """Serve on a free port, and show the first page."""
    handler = functools.partial(Handler, directory=str(Path(__file__).resolve().parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
