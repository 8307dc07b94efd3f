import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct ConnectionSequenceTests {
    @Test("the connections of a listener come to a for loop until it is closed")
    func connections() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let served = Future(on: loop) {
                var peers: [SocketAddress?] = []
                for try await connection in listener.connections {
                    peers.append(connection.peerAddress)
                    connection.close()
                }
                return peers
            }
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            for client in clients { #expect(try loop.run(until: client.read()).count == 0) }
            try loop.run(until: listener.close())
            let peers = try loop.run(until: served)
            #expect(peers == clients.map(\.localAddress))
            for client in clients { loop.closeAll(client) }
        }
    }

    @Test("a connection that nobody asked for any more waits for the next who asks")
    func losesNothing() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let cancelled = Future(on: loop) {
                for try await _ in listener.connections { Issue.record("there was none") }
            }
            try loop.run(until: loop.submit {})
            #expect(cancelled.cancel())
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: listener.connections.first())
            #expect(accepted?.peerAddress == client.localAddress)
            loop.closeAll(client, accepted!)
            try loop.run(until: listener.close())
            let none = try loop.run(until: listener.connections.first())
            #expect(none == nil)
        }
    }

    @Test("an echo server of a for loop over connections and one over chunks")
    func echo() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let served = Future(on: loop) {
                for try await connection in listener.connections {
                    for try await chunk in connection.chunks { try await connection.write(chunk).value }
                    try await connection.close().value
                }
            }
            let client = try loop.connect(to: listener.localAddress)
            client.write(Data("hello".utf8))
            client.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd()) == Data("hello".utf8))
            loop.closeAll(client)
            try loop.run(until: listener.close())
            try loop.run(until: served)
        }
    }
}

struct SignalSequenceTests {
    @Test("signals come to a for loop, and those that come while it is busy wait for it, each once")
    func delivers() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let seen = Future(on: loop) {
                    var seen: [ProcessSignal] = []
                    for try await signal in loop.signals(.user1, .user2) {
                        seen.append(signal)
                        if seen.count == 3 { break }
                        for number in [SIGUSR1, SIGUSR1, SIGUSR2] where seen.count == 1 {
                            kill(getpid(), number)
                        }
                        try await loop.sleep(for: .milliseconds(20)).value
                    }
                    return seen
                }
                loop.sleep(for: .zero).whenSuccess { _ = kill(getpid(), SIGUSR1) }
                let got = try loop.run(until: seen)
                #expect(got[0] == .user1)
                #expect(Set(got[1...]) == [.user1, .user2])
                try loop.run()
                #expect(loop.statistics.handles == 0)
            }
        }
    }

    @Test("a sequence of signals gives them their former effect back when it ends")
    func ends() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let before = handler(of: SIGUSR2)
                do {
                    let iterator = loop.signals(.user2).makeAsyncIterator()
                    #expect(handler(of: SIGUSR2) != before)
                    #expect(iterator.pull().cancel())
                }
                try loop.run()
                #expect(handler(of: SIGUSR2) == before)
            }
        }
    }

    @Test("a sequence of signals that cannot be had fails")
    func refuses() throws {
        try withLoop { loop in
            let error = loop.failure(of: loop.signals(.user1, ProcessSignal(rawValue: SIGKILL)).first())
            #expect(error as? FutureError == .invalidArgument("signal \(SIGKILL) cannot be waited for"))
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }
}

private func handler(of number: CInt) -> UInt {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
}
