"""A server of bytes and its client over aioquic, as programs for `ackclock emulate`.

aioquic_transfer.py serve PORT KEY CERTIFICATE [reno|cubic]
aioquic_transfer.py get HOST PORT BYTES
"""

from __future__ import annotations

import asyncio
import os
import ssl
import sys

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration

PROTOCOL = ["ackclock-transfer"]
PIECE = 1 << 16
"""Bytes that are read at a time."""


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send as many bytes as the client asks for."""
    writer.write(bytes(int.from_bytes(await reader.readexactly(8), "big")))
    writer.write_eof()


async def serve_forever(port: str, key: str, certificate: str, control: str = "cubic") -> None:
    """Answer clients until the process is ended."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=PROTOCOL, congestion_control_algorithm=control)
    configuration.load_cert_chain(certificate, key)

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(answer(reader, writer)))

    # The loop itself keeps no task alive.
    tasks: set[asyncio.Future[None]] = set()
    await serve("0.0.0.0", int(port), configuration=configuration, stream_handler=accept)
    await asyncio.Event().wait()


async def get(host: str, port: str, size: str) -> None:
    """Get so many bytes, and end the process with the last of them."""
    configuration = QuicConfiguration(alpn_protocols=PROTOCOL, verify_mode=ssl.CERT_NONE)
    async with connect(host, int(port), configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write(int(size).to_bytes(8, "big"))
        writer.write_eof()
        received = 0
        while data := await reader.read(PIECE):
            received += len(data)
        print(f"received {received} B", flush=True)
        # Leaving the block would wait until the connection has drained.
        os._exit(received != int(size))


if __name__ == "__main__":
    role, *words = sys.argv[1:]
    asyncio.run(serve_forever(*words) if role == "serve" else get(*words))
