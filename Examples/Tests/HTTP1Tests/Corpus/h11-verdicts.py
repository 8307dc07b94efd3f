"""Says what h11, the parser of Python's httpx and uvicorn, makes of the requests in a file of the format of corpus.txt: a line
for each. usage: h11-verdicts.py FILE"""
import sys

import h11


# The same words as those of Verdict.swift.
def verdict(rest):
    parts = []
    while rest:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        connection.receive_data(rest)
        head, length, total, trailers, upgrades = None, 0, 0, 0, False
        while True:
            try:
                event = connection.next_event()
            except h11.RemoteProtocolError:
                return "refused h11" + (" after " + " | ".join(parts) if parts else "")
            if isinstance(event, h11.Request):
                # h11 leaves it to its user to look at the version, and for the other field that an upgrade needs.
                options = b",".join(value for name, value in event.headers if name == b"connection").lower()
                options = [option.strip() for option in options.split(b",")]
                upgrades = event.method == b"CONNECT" or event.http_version > b"1.0" and b"upgrade" in options
                head = f"{event.method.decode('latin1')} {event.target.decode('latin1')} {len(event.headers)}"
            elif isinstance(event, h11.Data):
                for byte in event.data:
                    total = (total * 31 + byte) % 65521
                length += len(event.data)
            else:
                break
        if isinstance(event, h11.EndOfMessage):
            trailers = len(event.headers)
        described = f"{head} {length}:{total} {trailers}"
        if not isinstance(event, h11.EndOfMessage):
            return "ok " + " | ".join(parts + [f"{described} ..." if head else "..."])
        parts.append(described)
        if upgrades and connection.their_state is h11.MIGHT_SWITCH_PROTOCOL:
            parts.append("upgrade")
            break
        # What follows is another request: whether the connection is kept is nothing that a parser decides.
        rest = connection.trailing_data[0]
    return "ok " + " | ".join(parts)


with open(sys.argv[1], encoding="latin1") as file:
    for line in file:
        text = line.rstrip("\n").split("\t")[2]
        print(verdict(text.encode("latin1").decode("unicode_escape").encode("latin1")))
