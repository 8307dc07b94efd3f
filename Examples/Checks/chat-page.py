#!/usr/bin/env python3
"""Chats by ChatServer's page in headless Chromium with somebody at a terminal. Leaves a picture of it in light and one in
dark. usage: chat-page.py URL PORT PICTURE"""

import asyncio
import sys

import chromium

url, port, picture = sys.argv[1:]
shown = "[...document.querySelectorAll('#lines p:not(.note)')].map(line => line.innerText)"


async def until(page, expression):
    for _ in range(100):
        if await page.value(expression):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"the page does not come to {expression}; it shows {await page.value(shown)}")


async def look(page):
    async def say(text):
        await page.value(f"at('text').value = {text!r}; at('form').requestSubmit()")

    async def heard(text):
        while (line := (await asyncio.wait_for(reader.readline(), 10)).decode()) != text + "\n":
            assert line, f"the terminal does not hear {text}"

    await page.call("Page.enable")
    await page.call("Emulation.setDeviceMetricsOverride", width=1000, height=640, deviceScaleFactor=1, mobile=False)
    await page.call("Page.navigate", url=url + "#garden")
    await until(page, "typeof socket !== 'undefined' && at('state').textContent == 'connected'")
    await page.value("at('name').value = 'anna'; at('name').onchange()")
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    writer.write(b"/name bert\n/join garden\n")
    await heard("* you are in garden as bert")
    await say("hello from the page")
    await heard("anna: hello from the page")
    writer.write("and from the terminal, <b>ä €</b>\n".encode())
    await until(page, f"{shown}.length == 2 && pending.length == 0")
    # Without a connection, the page keeps what is said, and what is said meanwhile comes, each of it once.
    await page.value("socket.close(); socket.onclose = null; clearTimeout(timer)")
    await say("said without a connection")
    writer.write(b"said meanwhile\n")
    await heard("bert: said meanwhile")
    assert await page.value("pending.length") == 1, "what is said without a connection is not kept"
    await page.value("connect()")
    await heard("anna: said without a connection")
    await until(page, f"{shown}.length == 4 && pending.length == 0")
    assert await page.value("heard") == [
        "anna: hello from the page", "bert: and from the terminal, <b>ä €</b>", "bert: said meanwhile",
        "anna: said without a connection"]
    assert not await page.value("document.querySelector('#lines p b b')"), "the page takes a text for markup"
    for scheme in ("light", "dark"):
        await page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await page.photograph(f"{picture}-{scheme}.png")
    writer.close()


asyncio.run(chromium.visit(look))
