import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct ShortageTests {
    @Test("without descriptors a server waits, at no cost, says so once, and goes on when there is one")
    func descriptors() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let crowd = Crowd(clients: 500, limit: 64)
            try withLoop { loop in
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
                var counted: [Int] = []
                loop.observe {
                    if case .warning(let text) = $0, text.contains("EMFILE") {
                        counted.append(server.statistics.shortages)
                    }
                }
                crowd.connect(to: server.localAddress.port)
                try loop.runUntil { server.statistics.shortages > 0 }
                let served = server.activeConnections
                #expect(served > 20)
                #expect(served < 64)

                let seconds = isSoaking ? 5 : 1
                let before = cpuTime()
                try loop.run(for: .seconds(seconds))
                let used = cpuTime() - before
                #expect(used < .milliseconds(seconds * 50), "\(used) of \(seconds) s")
                #expect(server.activeConnections == served)
                #expect(server.statistics.shortages > 1)
                loop.observe(nil)
                #expect(counted == [1], "the observer may ask for figures, and is told once a minute")

                // One of the server's own, and then one that it knows nothing of.
                let ways = [{ crowd.clients[0].shutdown() }, { crowd.giveBackSpare() }]
                for (number, way) in ways.enumerated() {
                    let next = crowd.clients[served + number]
                    #expect(next.send([7]))
                    #expect(next.receive() == nil)
                    let start = loop.now
                    way()
                    try loop.runUntil { next.receive() == [7] }
                    #expect(start.duration(to: loop.now) < .seconds(10))
                }
                // Nobody was turned away.
                for client in crowd.clients.dropFirst(served + ways.count) {
                    #expect(client.receive() == nil)
                }
                server.onConnectionError = { _ in }
                _ = try loop.run(until: server.shutdown(within: .zero))
            }
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            .split(separator: "\n").filter { $0.contains("EMFILE") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("accept EMFILE 127.0.0.1:") == true)
        let advice =
            " connections are open, the others wait in the system; it is tried again and again. "
            + "Raise the limit of the process (ulimit -n, LimitNOFILE=), or lower maxConnections. Said once a minute at most."
        #expect(lines.first?.hasSuffix(advice) == true)
    }

    @Test("what is to be done about connections that cannot be accepted depends on the reason")
    func advice() {
        func advice(_ code: CInt) -> String {
            UVError(-code, "accept", local: nil, peer: nil).acceptAdvice
        }
        #expect(advice(ENFILE).hasPrefix("Raise the limit of the machine (fs.file-max)"))
        for code in [ENOMEM, ENOBUFS] { #expect(advice(code).hasSuffix("more memory.")) }
        for code in [EPERM, EACCES] { #expect(advice(code).contains("firewalls")) }
        #expect(!advice(EIO).contains("limit") && advice(EIO).contains("system's log"))
    }

    @Test("onShortage hears of it instead, and an accept waits until there is a descriptor")
    func hears() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let crowd = Crowd(clients: 100, limit: 64)
            try withLoop { loop in
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                var shortages: [UVError] = []
                let told = Told(by: loop)
                listener.onShortage = { shortages.append($0) }
                crowd.connect(to: listener.localAddress.port)
                var accepted: [TCPConnection] = []
                func goOn() -> Future<Void> {
                    listener.accept().flatMap { connection in
                        accepted.append(connection)
                        return goOn()
                    }
                }
                let accepting = goOn()
                try loop.runUntil { !shortages.isEmpty }
                try loop.run(for: .milliseconds(250))
                #expect(shortages.map(\.code) == [.tooManyOpenFiles])
                #expect(
                    told.warnings == [
                        "\(shortages[0]). Connections wait in the system; it is tried again and again. Raise the limit of "
                            + "the process (ulimit -n, LimitNOFILE=), or lower maxConnections. Said once a minute at most."
                    ])
                let count = accepted.count
                try loop.run(until: accepted[0].abort())
                try loop.runUntil { accepted.count == count + 1 }
                listener.close()
                #expect(loop.failure(of: accepting) is CancellationError)
                for connection in accepted { connection.abort() }
                try loop.run()
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(!printed.contains("EMFILE"))
    }
}

/// Clients whose descriptors are above a limit that holds from then on.
private final class Crowd {
    let clients: [PlainSocket]
    private let spare: CInt

    init(clients count: Int, limit: CInt) {
        var all = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        all.rlim_cur = all.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
        var places: [CInt] = []
        while (places.last ?? 0) < limit { places.append(dup(STDIN_FILENO)) }
        clients = (0..<count).map { _ in PlainSocket.unconnected() }
        for place in places.dropFirst() { close(place) }
        spare = places[0]
        all.rlim_cur = rlim_t(limit)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &all)
    }

    func connect(to port: Int) {
        for client in clients { client.connect(to: port) }
    }

    func giveBackSpare() { close(spare) }
}
