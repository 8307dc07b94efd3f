#!/usr/bin/env python3
"""Makes one module of the symbol graphs of several, for docc. UVFutures exports the others again, so readers find everything
in one module, as users do. A link may name the module that its target comes from.
usage: graphs.py FROM TO"""
import json
import pathlib
import re
import sys

for path in pathlib.Path(sys.argv[1]).glob("*.symbols.json"):
    text = re.sub(r"``(Futures|ByteStreams|FuturesTesting|TLSStreams)/", "``", path.read_text())
    graph = json.loads(text)
    graph["module"]["name"] = "UVFutures"
    # What a protocol asks for is in the groups of a type's page. docc would list it once more behind them, and would show
    # the documentation of the standard library, whose links lead nowhere here.
    origins = {r["source"]: r.pop("sourceOrigin")["displayName"] for r in graph["relationships"] if "sourceOrigin" in r}
    for symbol in graph["symbols"]:
        origin = origins.get(symbol["identifier"]["precise"])
        comment = symbol.get("docComment", {})
        if origin and comment.get("module") not in ("Futures", "ByteStreams", "SystemIO", "UVFutures", "FuturesTesting", "TLSStreams"):
            symbol["docComment"] = {"lines": [{"text": f"Is what `{origin.split('.')[0]}` asks for."}]}
    pathlib.Path(sys.argv[2], path.name.replace("@", "-")).write_text(json.dumps(graph))
