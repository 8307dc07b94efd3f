import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct ShortageReportTests {
    @Test("what is to be done about connections that cannot be accepted depends on the reason")
    func advice() {
        func advice(_ code: CInt) -> String {
            SystemError(-code, "accept", local: nil, peer: nil).acceptAdvice
        }
        #expect(advice(ENFILE).hasPrefix("Raise the limit of the machine (fs.file-max)"))
        for code in [ENOMEM, ENOBUFS] { #expect(advice(code).hasSuffix("more memory.")) }
        for code in [EPERM, EACCES] { #expect(advice(code).contains("firewalls")) }
        #expect(!advice(EIO).contains("limit") && advice(EIO).contains("system's log"))
    }

    @Test(
        "onShortage hears of it instead, and an accept waits until there is a descriptor",
        arguments: TestNetwork.allCases)
    func hears(network: TestNetwork) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [network] in
            let crowd = Crowd(network, clients: 100, limit: 64)
            try withLoop(network) { loop in
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                var shortages: [SystemError] = []
                let told = Told(by: loop)
                listener.onShortage = { shortages.append($0) }
                crowd.connect(to: listener.localAddress.port, on: loop)
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
                        "\(shortages[0]). Connections wait in the system, and are accepted as soon as "
                            + "possible. Raise the limit of the process (ulimit -n, LimitNOFILE=), or lower "
                            + "maxConnections. Reported at most once a minute."
                    ])
                let count = accepted.count
                try loop.run(until: accepted[0].abort())
                // In a simulated network the client that is reset gives a descriptor of the same host back, too.
                let free = network == .system ? 1 : 2
                try loop.runUntil { accepted.count >= count + free }
                #expect(accepted.count == count + free)
                listener.close()
                #expect(loop.failure(of: accepting) is CancellationError)
                for connection in accepted { connection.abort() }
                crowd.leave()
                try loop.run()
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(!printed.contains("EMFILE"))
    }
}
