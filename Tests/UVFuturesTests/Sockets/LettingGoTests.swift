import Foundation
import FuturesTesting
import Testing
import UVFutures

struct LettingGoTests {
    enum Way: CaseIterable { case sent, aborted, broken }

    @Test(
        "code that runs when written data is let go may write to another connection",
        arguments: TestNetwork.allCases, Way.allCases)
    func others(network: TestNetwork, way: Way) throws {
        let loop = try network.makeLoop()
        let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
        func connect() throws -> (TCPConnection, TCPConnection) {
            try loop.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
                    .and(listener.accept()))
        }
        let (first, second) = try connect()
        let (third, fourth) = try connect()
        // More than the system takes at once.
        let size = 32_000_000
        let memory = unsafe UnsafeMutableRawPointer(calloc(size, 1)!)
        let write = first.write(
            unsafe Data(
                bytesNoCopy: memory, count: size,
                deallocator: .custom { memory, _ in
                    unsafe free(memory)
                    third.write([Data(count: 100_000), Data(count: 1)]).ignoreFailure()
                })
        ).ignoreFailure()
        #expect(!write.isCompleted)
        switch way {
        case .sent: #expect(try loop.run(until: second.read(exactly: size))?.count == size)
        case .aborted: first.abort()
        case .broken: second.abort()
        }
        #expect(try loop.run(until: fourth.read(exactly: 100_001))?.count == 100_001)
        for end in [first, second, third, fourth] { end.abort() }
        try loop.run(until: listener.close())
        loop.shutdown()
    }
}
