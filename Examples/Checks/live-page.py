#!/usr/bin/env python3
"""Looks at WebServer's page in headless Chromium, and compares its numbers with those of /metrics. Leaves a picture of it in
light and one in dark. usage: live-page.py URL PICTURE"""

import asyncio
import re
import sys
import urllib.request

import chromium

url, picture = sys.argv[1:]


def metrics():
    text = urllib.request.urlopen(f"{url}/metrics", timeout=10).read().decode()
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.e-]+)$", text, re.M)}


async def look(page):
    await page.call("Page.enable")
    await page.call("Emulation.setDeviceMetricsOverride", width=1280, height=760, deviceScaleFactor=1, mobile=False)
    await page.call("Page.navigate", url=url + "/")
    for _ in range(100):
        if await page.value("typeof events !== 'undefined' && events.length >= 3"):
            break
        await asyncio.sleep(0.1)
    else:
        raise AssertionError("no events come into the page")
    # Something to show.
    load = await asyncio.create_subprocess_exec(
        "wrk", "-t1", "-c20", "-d3s", url + "/bytes/10000", stdout=asyncio.subprocess.DEVNULL)
    await load.wait()
    curves = await page.value("charts.map(chart => chart.paths[1].getAttribute('d'))")
    before = metrics()
    # Two more events: both of them after the numbers that were just read.
    await page.value("new Promise(done => { let n = 0; source.addEventListener('message', () => ++n == 2 && done()) })")
    shown = await page.value("events.at(-1)")
    words = await page.value("Object.fromEntries(charts.map(chart => [chart.id, chart.now.textContent]))")
    feet = await page.value("Object.fromEntries(charts.map(chart => [chart.id, chart.below.textContent]))")
    after = metrics()
    pairs = {
        "accepted": "webserver_connections_accepted_total", "received": "webserver_received_bytes_total",
        "sent": "webserver_sent_bytes_total", "turns": "webserver_loop_turns_total",
        "callbacks": "webserver_loop_callbacks_total",
    }
    for name, metric in pairs.items():
        assert before[metric] <= shown[name] <= after[metric], \
            f"the page has {name} {shown[name]}, and the server {before[metric]} to {after[metric]}"
    # What a page says in words is what came.
    # One connection was the one that asked.
    assert words["open"] == f"{before['webserver_connections'] - 1:,.0f}", f"the page says {words['open']} connections"
    assert feet["open"].startswith(f"{shown['accepted']:,} accepted"), feet["open"]
    assert before["webserver_connections_accepted_total"] == shown["accepted"], "a connection is not shown"
    assert feet["requests"].startswith(f"{shown['requests']:,} in all"), feet["requests"]
    assert abs(after["process_cpu_seconds_total"] - shown["processor"] / 1e6) < 1
    later = await page.value("charts.map(chart => chart.paths[1].getAttribute('d'))")
    assert all(one and one != other for one, other in zip(curves, later)), "a chart does not move"
    assert await page.value("document.querySelector('#state').textContent") == "live"
    # What waits: the page itself, in the scope of its connection, and the server in that of the program.
    waits = await page.value("document.querySelector('#picture').textContent")
    for line in ("scope of 2 members", "  a body, which runs now", "  server of SocketConnection at "):
        assert f"\n{line}" in waits, f"the page does not show {line}: {waits}"
    for scheme in ("light", "dark"):
        await page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await page.photograph(f"{picture}-{scheme}.png")
    print(f"WebServer: the page shows {shown['requests']:,} requests, {shown['turns']:,} turns and a lag of {words['lag']}, "
          "as the server says")


asyncio.run(chromium.visit(look))
