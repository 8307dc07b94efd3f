import FuturesTesting
import Testing
import UVFutures

struct DatagramConnectTests {
    @Test("a name that nobody knows is waited for as long as is said, and else for ten seconds")
    func timeLimits() throws {
        try withLoop(.virtual) { loop in
            let silent = SilentResolver(on: loop)
            for limit in [Duration.zero, .seconds(1), .seconds(10)] {
                let start = loop.now
                let connecting =
                    limit == .seconds(10)
                    ? UDPSocket.connect(host: "a", port: 1, resolver: silent, on: loop)
                    : UDPSocket.connect(host: "a", port: 1, timeout: limit, resolver: silent, on: loop)
                let late = ResolutionError(name: "a", code: .timedOut)
                #expect(loop.failure(of: connecting) as? ResolutionError == late)
                #expect(start.duration(to: loop.now) == limit)
            }
        }
    }

    @Test("what can be no target is refused before its name is looked up", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            func refusal(_ host: String, _ port: Int, _ timeout: Duration = .seconds(1)) -> String {
                let connecting = UDPSocket.connect(
                    host: host, port: port, timeout: timeout, resolver: NoResolver(), on: loop)
                return "\(loop.failure(of: connecting)!)"
            }
            #expect(refusal("a", 0) == "cannot connect to port 0; give a port from 1 to 65535")
            #expect(refusal("a", 65_536) == "port 65536 is out of range; give 0 to 65535")
            #expect(
                refusal("a", 1, .seconds(-1)) == "a time limit of -1.0 seconds is negative; give zero or more"
            )
        }
    }
}
