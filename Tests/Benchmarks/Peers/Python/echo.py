"""The same echo server on uvloop.

Usage: echo.py [PORT]; 0, the default, picks one.
"""

import asyncio
import sys

import uvloop


class Echo(asyncio.Protocol):
    def connection_made(self, transport):  # uvloop sets TCP_NODELAY itself
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)

    def pause_writing(self):
        self.transport.pause_reading()

    def resume_writing(self):
        self.transport.resume_reading()


async def main(port):
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", port, backlog=4096)
    print(f"listening on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


uvloop.install()
asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
