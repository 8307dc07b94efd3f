"""The same echo server of datagrams on uvloop."""

import asyncio
import socket

import uvloop


class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.transport.sendto(data, address)


async def main():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * 1024 * 1024)
    server.bind(("127.0.0.1", 0))
    await asyncio.get_running_loop().create_datagram_endpoint(Echo, sock=server)
    print(f"listening on 127.0.0.1:{server.getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


uvloop.install()
asyncio.run(main())
