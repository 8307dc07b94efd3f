#!/usr/bin/python3
"""Holds the example Lookup beside glibc, c-ares and unbound: what each finds at name servers that do what bad servers,
forwarders and middleboxes do. Where two of the three find an address, Lookup has to, and never a forged one. What the
three find is in resolvers.txt, which the suite holds its answers against, and is compared again. Needs root, for a
network and a view of the files in /etc of its own.
usage: resolvers.py             compares
       resolvers.py --write     writes resolvers.txt
       resolvers.py --answers   prints the names that are asked for, and what the servers send because of each query"""
import concurrent.futures
import contextlib
import ctypes
import fcntl
import itertools
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

A, NS, CNAME, SOA, PTR, AAAA, OPT = 1, 2, 5, 6, 12, 28, 41
GOOD = {A: "192.0.2.1", AAAA: "2001:db8::1"}
FORGED = {A: "198.51.100.66", AAAA: "2001:db8:bad::66"}
SERVERS = ["127.0.0.1", "127.0.0.2"]
LOOKUP = "Examples/.build/release/Lookup"
RECORD = pathlib.Path(__file__).with_name("resolvers.txt")


# What a server sees, and what it sends.

class Query:
    def __init__(self, data, server=0, tcp=False):
        self.id, self.flags, *self.counts = struct.unpack("!6H", data[:12])
        self.server, self.tcp, labels, place = server, tcp, [], 12
        while data[place]:
            labels.append(data[place + 1:place + 1 + data[place]])
            place += 1 + data[place]
        self.name = b".".join(labels).decode().lower()
        self.type, = struct.unpack("!H", data[place + 1:place + 3])
        self.question, self.edns = data[12:place + 5], self.counts[3] > 0


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def record(kind, data, name=b"\xc0\x0c", number=1, ttl=60, length=None):
    return name + struct.pack("!HHIH", kind, number, ttl, len(data) if length is None else length) + data


def address(kind, table=GOOD, **rest):
    return record(kind, socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, table[kind]), **rest)


def message(q, answers=(), authorities=(), others=(), code=0, flags=0x8180, counts=None, question=None, id=None):
    counts = counts or [1, len(answers), len(authorities), len(others)]
    counts = [len(part) if count is None else count
              for count, part in zip(counts, [[1], answers, authorities, others])]
    return (struct.pack("!6H", q.id if id is None else id, flags | code, *counts)
            + (q.question if question is None else question) + b"".join([*answers, *authorities, *others]))


def good(q, **rest):
    return message(q, [address(q.type)] if q.type in GOOD else [], **rest)


def forged(q, **rest):
    return message(q, [address(q.type, FORGED)], **rest)


def after(seconds, data):
    return (seconds, data)


# The cases: the name that is asked for, and what the servers do with it. An answer is one datagram or several.

CASES = {}


def case(name, answer, second=False, search=False):
    CASES[name] = (answer, second, search)


def of_type(kind, bad):
    return lambda q: bad(q) if q.type == kind else good(q)


OPTIONS = b"\0" + struct.pack("!HHIH", OPT, 1232, 0, 0)
ZONE = record(SOA, wire("ns.example") + wire("admin.example") + struct.pack("!5I", 1, 3600, 600, 86400, 60))
REFERRAL = record(NS, wire("elsewhere.example"))
CODES = {"formerr": 1, "servfail": 2, "nxdomain": 3, "notimp": 4, "refused": 5, "yxdomain": 6, "notauth": 9,
         "code15": 15}

# Each field of the header.
case("good", good)
case("id-wrong", lambda q: good(q, id=q.id ^ 1))
for name, flags in {
    "qr-clear": 0x0180, "opcode-status": 0x9180, "opcode-15": 0xF980, "aa-set": 0x8580, "rd-clear": 0x8080,
    "ra-clear": 0x8100, "z-set": 0x81C0, "ad-cd-set": 0x81B0, "all-clear": 0x8000, "all-set": 0xFDF0,
}.items():
    case(name, lambda q, flags=flags: good(q, flags=flags))
case("flags-copied", lambda q: good(q, flags=q.flags))
case("flags-copied-qr-set", lambda q: good(q, flags=q.flags | 0x8000))
case("query-echoed", lambda q: message(q, flags=q.flags))
case("query-echoed-first", lambda q: [message(q, flags=q.flags), good(q)])
for name, counts in {
    "qdcount-0": [0, None, None, None], "qdcount-2": [2, None, None, None], "ancount-0": [1, 0, None, None],
    "ancount-2": [1, 2, None, None], "ancount-65535": [1, 65535, None, None], "nscount-1": [1, None, 1, None],
    "nscount-65535": [1, None, 65535, None], "arcount-1": [1, None, None, 1], "arcount-65535": [1, None, None, 65535],
    "nscount-arcount-7": [1, None, 7, 7],
}.items():
    case(name, lambda q, counts=counts: good(q, counts=counts))
case("arcount-copied", lambda q: good(q, counts=[1, None, None, q.counts[3]]))
case("counts-copied", lambda q: good(q, counts=q.counts))
case("nodata-arcount-1", of_type(AAAA, lambda q: message(q, counts=[1, 0, 0, 1])))
case("question-absent", lambda q: good(q, counts=[0, None, None, None], question=b"").replace(
    b"\xc0\x0c", q.question[:-4]))
case("question-twice", lambda q: good(q, counts=[2, None, None, None], question=q.question * 2))
case("question-upper-case", lambda q: good(q, question=q.question.upper()))
case("question-of-other-name", lambda q: good(q, question=wire("other.example") + q.question[-4:]))
case("question-of-other-type", lambda q: good(q, question=q.question[:-4] + struct.pack("!HH", 16, 1)))
case("question-of-other-class", lambda q: good(q, question=q.question[:-2] + b"\0\3"))

# Each code, for both questions and for one of the two, and for one domain of a search.
for name, code in CODES.items():
    case(f"{name}", lambda q, code=code: message(q, code=code))
    case(f"a-{name}", of_type(A, lambda q, code=code: message(q, code=code)))
    case(f"aaaa-{name}", of_type(AAAA, lambda q, code=code: message(q, code=code)))
    case(f"aaaa-{name}-first", lambda q, code=code: message(q, code=code) if q.type == AAAA else after(0.4, good(q)))
    case(f"{name}-with-address", lambda q, code=code: good(q, code=code))
    case(f"second-{name}", lambda q, code=code: message(q, code=code), second=True)
    case(f"search-{name}", lambda q, code=code: message(q, code=code), search=True)
case("a-nodata", of_type(A, lambda q: message(q, [], [ZONE])))
case("aaaa-nodata", of_type(AAAA, lambda q: message(q, [], [ZONE])))
case("aaaa-nodata-no-zone", of_type(AAAA, message))
case("aaaa-nodata-first", lambda q: message(q) if q.type == AAAA else after(0.4, good(q)))
case("a-nxdomain-aaaa-servfail", lambda q: message(q, code=3 if q.type == A else 2))
case("a-silent", of_type(A, lambda q: []))
case("aaaa-silent", of_type(AAAA, lambda q: []))
case("aaaa-cut", of_type(AAAA, lambda q: good(q)[:-3]))
case("aaaa-answered-by-a", lambda q: message(q, [address(A)]))
case("search-nodata", lambda q: message(q), search=True)
case("search-silent", lambda q: [], search=True)
case("search-cut", lambda q: good(q)[:-3], search=True)

# Each section that is cut, or holds nonsense, and what is not the answer before the answer.
case("empty", lambda q: b"")
case("header-cut", lambda q: good(q)[:6])
case("header-only", lambda q: good(q)[:12])
case("question-cut", lambda q: good(q)[:14])
case("answer-cut", lambda q: good(q)[:-3])
case("second-answer-cut", lambda q: message(q, [address(q.type), address(q.type, FORGED)])[:-3])
case("authority-cut", lambda q: good(q, authorities=[ZONE])[:-3])
case("additional-cut", lambda q: good(q, others=[record(A, b"abcd", wire("ns.example"))])[:-3])
case("options-cut", lambda q: good(q, others=[OPTIONS])[:-3])
case("bytes-behind", lambda q: good(q) + b"garbage")
case("authority-nonsense", lambda q: good(q, authorities=[b"\xc0\xff" + REFERRAL[2:]]))
case("authority-length-wrong", lambda q: good(q, authorities=[record(SOA, b"\0\0")]))
case("additional-nonsense", lambda q: good(q, others=[b"\x40nonsense"]))
case("additional-length-wrong", lambda q: good(q, others=[record(A, b"abc", wire("ns.example"))]))
case("byte-first", lambda q: [b"x", good(q)])
case("empty-first", lambda q: [b"", good(q)])
case("wrong-id-first", lambda q: [forged(q, id=q.id ^ 1), good(q)])
case("wrong-question-first", lambda q: [forged(q, question=wire("other.example") + q.question[-4:]), good(q)])
case("twice", lambda q: [good(q), good(q)])

# What the answer holds, and in which order.
ALIAS = record(CNAME, wire("target.example"))
case("target", good)
case("alias-first", lambda q: message(q, [ALIAS, address(q.type, name=wire("target.example"))]))
case("alias-last", lambda q: message(q, [address(q.type, name=wire("target.example")), ALIAS]))
case("alias-only", lambda q: message(q, [ALIAS]))
case("aliases-in-order", lambda q: message(
    q, [record(CNAME, wire("middle.example")), record(CNAME, wire("target.example"), wire("middle.example")),
        address(q.type, name=wire("target.example"))]))
case("aliases-in-disorder", lambda q: message(
    q, [record(CNAME, wire("target.example"), wire("middle.example")), record(CNAME, wire("middle.example")),
        address(q.type, name=wire("target.example"))]))
case("alias-twice", lambda q: message(q, [ALIAS, ALIAS, address(q.type, name=wire("target.example"))]))
case("aliases-to-two", lambda q: message(
    q, [ALIAS, record(CNAME, wire("middle.example")), address(q.type, name=wire("target.example"))]))
case("alias-and-address", lambda q: message(q, [ALIAS, address(q.type)]))
for name, target in [("underscore", wire("_x.example")), ("slash", wire("a/b.example"))]:
    case(f"alias-{name}", lambda q, to=target: message(q, [record(CNAME, to), address(q.type, name=to)]))
case("alias-to-itself", lambda q: message(q, [record(CNAME, b"\xc0\x0c"), address(q.type)]))
case("alias-nxdomain", lambda q: message(q, [ALIAS, address(q.type, name=wire("target.example"))], code=3))
case("owner-upper-case", lambda q: message(q, [address(q.type, name=q.question[:-4].upper())]))
case("owner-other", lambda q: message(q, [address(q.type, FORGED, name=wire("other.example"))]))
case("owner-other-first", lambda q: message(q, [address(q.type, FORGED, name=wire("other.example")), address(q.type)]))
case("owner-other-last", lambda q: message(q, [address(q.type), address(q.type, FORGED, name=wire("other.example"))]))
case("class-chaos", lambda q: message(q, [address(q.type, FORGED, number=3)]))
case("class-chaos-first", lambda q: message(q, [address(q.type, FORGED, number=3), address(q.type)]))
case("class-any", lambda q: message(q, [address(q.type, FORGED, number=255)]))
case("ttl-zero", lambda q: message(q, [address(q.type, ttl=0)]))
case("ttl-negative", lambda q: message(q, [address(q.type, ttl=0xFFFFFFFF)]))
case("signature-first", lambda q: message(q, [record(46, bytes(30)), address(q.type)]))
case("unknown-type-first", lambda q: message(q, [record(65280, b"abc"), address(q.type)]))
case("length-short-first", lambda q: message(q, [record(q.type, b"abc"), address(q.type)]))
case("length-long-first", lambda q: message(q, [record(q.type, bytes(20)), address(q.type)]))
case("length-short-last", lambda q: message(q, [address(q.type), record(q.type, b"abc")]))
case("length-zero-first", lambda q: message(q, [record(q.type, b""), address(q.type)]))
case("other-type-nonsense-first", lambda q: message(q, [record(15, b"\0"), address(q.type)]))
case("address-twice", lambda q: message(q, [address(q.type), address(q.type)]))
case("both-families", lambda q: message(q, [address(A), address(AAAA)]))
case("pointer-forward", lambda q: message(
    q, [record(65280, b"ab"), address(q.type, name=struct.pack("!H", 0xC000 | 12 + len(q.question) + 14 + 12 + (
        4 if q.type == A else 16)))], others=[record(16, b"\0", q.question[:-4])]))
case("pointer-to-itself-last", lambda q: message(
    q, [address(q.type), b"\xc0" + bytes([12 + len(q.question) + (16 if q.type == A else 28)]) + ALIAS[2:]]))
case("pointer-to-header", lambda q: message(q, [address(q.type, name=b"\xc0\x02")]))
case("address-in-authority", lambda q: message(q, [], [address(q.type, FORGED)]))
case("address-in-additional", lambda q: message(q, [], [], [address(q.type, FORGED)]))

# Referrals, and a second server that knows the answer.
case("referral", lambda q: message(q, [], [REFERRAL], flags=0x8100))
case("referral-ra", lambda q: message(q, [], [REFERRAL]))
case("answer-and-referral", lambda q: message(q, [address(q.type)], [REFERRAL], flags=0x8100))
for name, bad in {
    "referral": lambda q: message(q, [], [REFERRAL], flags=0x8100),
    "referral-glue": lambda q: message(
        q, [], [REFERRAL], [record(A, b"\xc0\0\2\x42", wire("elsewhere.example"))], flags=0x8100),
    "referral-ra": lambda q: message(q, [], [REFERRAL]), "nothing": lambda q: message(q, flags=0x8100),
    "nodata": lambda q: message(q, [], [ZONE], flags=0x8580), "nodata-ra": message,
    "silent": lambda q: [], "empty": lambda q: b"", "cut": lambda q: good(q)[:-3],
    "id-wrong": lambda q: good(q, id=q.id ^ 1), "qr-clear": lambda q: message(q, flags=q.flags),
    "aaaa-nxdomain": lambda q: message(q, code=3) if q.type == AAAA else [],
    "formerr-no-question": lambda q: message(q, code=1, counts=[0, 0, 0, 0], question=b""),
    "servfail-no-question": lambda q: message(q, code=2, counts=[0, 0, 0, 0], question=b""),
    "refused-no-question": lambda q: message(q, code=5, counts=[0, 0, 0, 0], question=b""),
    "notimp-no-question": lambda q: message(q, code=4, counts=[0, 0, 0, 0], question=b""),
}.items():
    case(f"second-{name}", bad, second=True)

# What a query with EDNS meets.
for name, bad in {
    "formerr": lambda q: message(q, code=1), "notimp": lambda q: message(q, code=4),
    "formerr-no-question": lambda q: message(q, code=1, counts=[0, 0, 0, 0], question=b""),
    "badvers": lambda q: message(q, others=[OPTIONS[:5] + b"\1" + OPTIONS[6:]]), "drop": lambda q: [],
    "servfail": lambda q: message(q, code=2), "refused": lambda q: message(q, code=5),
    "nxdomain": lambda q: message(q, code=3), "nodata": lambda q: message(q), "code15": lambda q: message(q, code=15),
    "cut": lambda q: good(q)[:-3], "truncated": lambda q: message(q, flags=0x8380),
}.items():
    case(f"edns-{name}", lambda q, bad=bad: bad(q) if q.edns else good(q))
    # The answer does not fit into a datagram without it.
    case(f"long-edns-{name}", lambda q, bad=bad: good(q) if q.tcp else bad(q) if q.edns else message(q, flags=0x8380))
case("options-echoed", lambda q: good(q, others=[OPTIONS] * q.counts[3]))
case("options-always", lambda q: good(q, others=[OPTIONS]))
case("options-twice", lambda q: good(q, others=[OPTIONS] * 2))
case("options-nonsense", lambda q: good(q, others=[OPTIONS[:5] + bytes([255] * 4) + OPTIONS[9:]]))
case("options-first", lambda q: message(q, [OPTIONS, address(q.type)]))

# Answers that do not fit into a datagram.
case("truncated", lambda q: good(q) if q.tcp else message(q, flags=0x8380))
case("truncated-by-tcp-too", lambda q: good(q, flags=0x8380))
case("truncated-no-tcp", lambda q: [] if q.tcp else good(q, flags=0x8380))
case("truncated-tcp-servfail", lambda q: message(q, code=2) if q.tcp else good(q, flags=0x8380))
case("truncated-arcount", lambda q: good(q, counts=[1, None, None, 1]) if q.tcp else message(q, flags=0x8380))
case("second-truncated-no-tcp", lambda q: [] if q.tcp else message(q, flags=0x8380), second=True)
case("second-truncated-tcp-cut", lambda q: good(q)[:-3] if q.tcp else message(q, flags=0x8380), second=True)

# Names that look like addresses, and the names of addresses.
NUMBERS = ["node.123", "1.2.3.4.5", "300.1.1.1", "1.2.3.256", "256", "1.2.3.4.", "0x7f.1", "127.1", "2130706433",
           "010.0.0.1", "0x.example", "1.2.3.4.example", "node.0x1", "node.0xg", "99999999999", "1.a", "1.node.2",
           "4294967296", "1.2.3.", "08.1.1.1", "0xa.0xb.0xc.0xd.0xe"]
NAMES = {"192.0.2.9": "nine.example", "2001:db8::9": "nine.example", "::ffff:192.0.2.9": "nine.example",
         "::192.0.2.9": "nine.example", "64:ff9b::192.0.2.9": "nine.example", "::ffff:192.0.2.10": "ten.example"}
POINTERS = {"9.2.0.192.in-addr.arpa": "nine.example"}
for text, name in [("2001:db8::9", "nine.example"), ("::ffff:192.0.2.10", "ten.example")]:
    POINTERS[".".join(reversed(socket.inet_pton(socket.AF_INET6, text).hex())) + ".ip6.arpa"] = name


def asked(name):
    return f"{name}.example." if name in CASES and not CASES[name][2] else name


def answers(q):
    """The datagrams that answer, each with the seconds after which it is sent."""
    def plain():
        label, _, domain = q.name.partition(".")
        if q.type == PTR:
            name = POINTERS.get(q.name)
            return message(q, [record(PTR, wire(name))] if name else [], code=0 if name else 3)
        if q.name in {number.rstrip(".") for number in NUMBERS}:
            return good(q)
        if q.name == "elsewhere.example":
            return message(q, code=3)
        answer, second, search = CASES.get(label, (None, False, False))
        if answer and search and domain in ["one.example", "two.example"]:
            return answer(q) if domain == "one.example" else good(q)
        if not answer or search or domain != "example":
            return message(q, code=3)
        return good(q) if second and q.server == 1 else answer(q)
    found = plain()
    found = found if isinstance(found, list) else [found]
    return [datagram if isinstance(datagram, tuple) else (0, datagram) for datagram in found]


def serve():
    def over_udp(server, udp):
        while True:
            data, client = udp.recvfrom(4096)
            for seconds, datagram in answers(Query(data, server)):
                if seconds:
                    threading.Timer(seconds, udp.sendto, [datagram, client]).start()
                else:
                    udp.sendto(datagram, client)

    def connection(server, tcp):
        with tcp, contextlib.suppress(ConnectionError):
            while size := tcp.recv(2, socket.MSG_WAITALL):
                query = Query(tcp.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL), server, True)
                if not (found := answers(query)):
                    break
                for _, datagram in found:
                    tcp.sendall(struct.pack("!H", len(datagram)) + datagram)

    def over_tcp(server, listener):
        while True:
            threading.Thread(target=connection, args=[server, listener.accept()[0]], daemon=True).start()

    for server, host in enumerate(SERVERS):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
        udp.bind((host, 53))
        tcp = socket.create_server((host, 53), backlog=500)
        for target, listener in [(over_udp, udp), (over_tcp, tcp)]:
            threading.Thread(target=target, args=[server, listener], daemon=True).start()


# Who asks.

def in_parallel(look, names):
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        return dict(zip(names, pool.map(look, names)))


def glibc(names):
    def look(name):
        try:
            if name in NAMES:
                return {socket.getnameinfo((name, 0), socket.NI_NAMEREQD)[0]}
            return {found[4][0] for found in socket.getaddrinfo(asked(name), None, type=socket.SOCK_STREAM)}
        except OSError:
            return set()
    return in_parallel(look, names)


def c_ares(names):
    import pycares

    def look(name):
        # One of its own: what is no message fails all that wait for the server.
        channel, found = pycares.Channel(timeout=1, tries=1), []

        def store(result, error):
            if error is not None:
                found.append(set())
            elif name in NAMES:
                found.append({result.node})
            else:
                found.append({node.addr[0].decode() for node in result.nodes})
        if name in NAMES:
            channel.getnameinfo((name, 0, 0, 0) if ":" in name else (name, 0),
                                pycares.ARES_NI_LOOKUPHOST | pycares.ARES_NI_NAMEREQD, store)
        else:
            channel.getaddrinfo(asked(name), None, store)
        while not found:
            readers, writers = channel.getsock()
            ready = select.select(readers, writers, [], channel.timeout())
            for descriptor in ready[0] or [pycares.ARES_SOCKET_BAD]:
                channel.process_fd(descriptor, pycares.ARES_SOCKET_BAD)
            for descriptor in ready[1]:
                channel.process_fd(pycares.ARES_SOCKET_BAD, descriptor)
        return found[0]
    return in_parallel(look, names)


def unbound(names):
    import unbound as library
    context = library.ub_ctx()
    context.resolvconf("/etc/resolv.conf")
    context.set_option("module-config:", "iterator")
    context.set_option("do-not-query-localhost:", "no")
    context.set_option("unknown-server-time-limit:", "100")
    context.set_option("outbound-msg-retry:", "2")

    def look(name):
        found = set()
        # It chooses among servers at random.
        if name in NAMES or name in CASES and CASES[name][1]:
            return found
        for kind in [A, AAAA]:
            status, result = context.resolve(asked(name), kind, 1)
            if status == 0 and result.havedata:
                found |= {socket.inet_ntop(socket.AF_INET if kind == A else socket.AF_INET6, data)
                          for data in result.data.raw if len(data) == (4 if kind == A else 16)}
        return found
    return in_parallel(look, names)


def lookup(names):
    found = {name: set() for name in names}
    back = {asked(name): name for name in names}
    for kind, group in [("addresses", [name for name in names if name not in NAMES]), ("names", list(NAMES))]:
        run = subprocess.run(
            [LOOKUP, "--type", kind, *map(asked, group)], stdout=subprocess.PIPE, text=True, timeout=100)
        for words in map(str.split, run.stdout.splitlines()):
            if len(words) == 3 and words[0] in back:
                found[back[words[0]]].add(words[1])
    return found


# The table.

def agreed(name, columns):
    """What two of the three find. Nothing where one of them reads the name as an address."""
    everything = [address for column in columns for address in column]
    if name in NUMBERS and set(everything) - set(GOOD.values()):
        return set()
    return {address for address in everything if everything.count(address) > 1}


def table(peers):
    lines = [[asked(name), *columns, agreed(name, columns)]
             for name in NAME_LIST for columns in [[peer[name] for peer in peers]]]
    return [f"{line[0]:34} " + " ".join(f"{','.join(sorted(column)) or '-':24}" for column in line[1:]).rstrip()
            for line in lines]


HEAD = """\
# What others find at the servers of resolvers.py, which writes and compares this: --write. Where two of them find an
# address, so does the resolver of this package, and never one of 198.51.100.66 and 2001:db8:bad::66, which are forged.
# """


def compare(peers):
    """Prints what is wrong with the example. Returns whether something is."""
    *others, own = peers
    wrong = False
    known = {line.split()[0]: set(line.split()[-1].split(",")) - {"-"}
             for line in RECORD.read_text().splitlines() if not line.startswith("#")}
    for name in NAME_LIST:
        columns = [peer[name] for peer in others]
        good = {*GOOD.values(), *NAMES.values()}
        if agreed(name, columns) - own[name] or own[name] - good:
            print(f"{asked(name)}: Lookup finds {own[name] or 'nothing'}, and glibc, c-ares and unbound {columns}")
            wrong = True
        # How long one of them waits for the other question's answer is another each time. It matters what two agree on.
        if agreed(name, columns) - known.get(asked(name), set()):
            print(f"{asked(name)}: glibc, c-ares and unbound find {columns}, which resolvers.txt does not have; "
                  "write it again: resolvers.py --write")
            wrong = True
    return wrong


def inside(writes):
    # Brings the interface lo up.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interfaces:
        fcntl.ioctl(interfaces, 0x8914, struct.pack("16sH22x", b"lo", 1))
    files = {"resolv.conf": "".join(f"nameserver {host}\n" for host in SERVERS)
             + "search one.example two.example\noptions timeout:1 attempts:1\n",
             "nsswitch.conf": "hosts: dns\n", "hosts": "", "host.conf": ""}
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            (path := pathlib.Path(directory, name)).write_text(text)
            if os.path.exists(f"/etc/{name}"):
                subprocess.run(["mount", "--bind", path, f"/etc/{name}"], check=True)
    if (server := os.fork()) == 0:
        serve()
        signal.pause()
    try:
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection((SERVERS[-1], 53)):
            pass
        peers = [peer(NAME_LIST) for peer in [glibc, c_ares, unbound, *([] if writes else [lookup])]]
    finally:
        os.kill(server, signal.SIGKILL)
    if not writes:
        return compare(peers)
    import pycares
    import unbound as library
    versions = f"{os.confstr('CS_GNU_LIBC_VERSION')}, c-ares {pycares.ARES_VERSION}, unbound {library.ub_version()}"
    RECORD.write_text("\n".join([HEAD + versions + ", and what two of the three find", *table(peers)]) + "\n")


def print_answers():
    """A line for each name, and one for each kind of query: what of it matters is told, the rest stands for all."""
    labels = [name for name, (_, _, searches) in CASES.items() for name in (
        [f"{name}.one.example", f"{name}.two.example"] if searches else [f"{name}.example"])]
    for name in [*labels, *(number.rstrip(".") for number in NUMBERS), *POINTERS]:
        for kind in [PTR] if name in POINTERS else [A, AAAA]:
            usual = None
            for server, tcp, edns in itertools.product([0, 1], [False, True], [0, 1]):
                query = struct.pack("!6H", 0, 0x0100, 1, 0, 0, edns) + wire(name) + struct.pack("!HH", kind, 1)
                sent = " ".join(f"{int(seconds * 1000)}:{data.hex()}" for seconds, data in answers(
                    Query(query, server, tcp)))
                if usual is None or sent != usual:
                    print(server, "tcp" if tcp else "udp", edns, kind, name, sent)
                usual = sent if usual is None else usual


NAME_LIST = [*CASES, *NUMBERS, *NAMES]

if __name__ == "__main__":
    if "--answers" in sys.argv:
        print_answers()
    elif "--inside" in sys.argv:
        sys.exit(inside("--write" in sys.argv))
    else:
        sys.exit(subprocess.run(["unshare", "-mn", sys.executable, __file__, "--inside", *sys.argv[1:]]).returncode)
