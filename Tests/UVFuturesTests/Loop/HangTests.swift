import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

/// The ways in which a program hangs, and what a snapshot of its loop has to say of each.
enum Hang: String, CaseIterable, Codable {
    case heldLock, keptPromise, unfedReader, drain, lookUp, deafChild, backPressure, circle, elsewhere,
        callback

    /// Parts of the lines, in order, in a debug build. A release build says the same without places, if it is traced.
    var said: [String] {
        switch self {
        case .heldLock:
            [
                "a body made at Loop/HangTests.swift:",
                "for mutex for which 1 waits, held since Loop/HangTests.swift:",
            ]
        case .keptPromise:
            [
                "which waits at Loop/HangTests.swift:", "for map at Loop/HangTests.swift:",
                "for a promise made at",
            ]
        case .unfedReader:
            [
                "a body of TCPConnection", "which waits at Loop/HangTests.swift:",
                "for a read of TCPConnection",
            ]
        case .drain:
            [
                "scope of 1 member, draining", "which waits at Loop/HangTests.swift:",
                "for a timer that is due in",
            ]
        case .lookUp: ["which waits at Loop/HangTests.swift:", "a look-up of the addresses of example.org"]
        case .deafChild:
            ["which waits at Loop/HangTests.swift:", "for the exit of process", "handle: process"]
        case .backPressure:
            ["which waits at Loop/HangTests.swift:", "for a write of TCPConnection", "bytes unsent"]
        case .circle: ["which waits at Loop/HangTests.swift:", "which waits for itself in this way"]
        case .elsewhere:
            [
                "a body made at Loop/HangTests.swift:", "which waits for no future of this loop",
                " at Loop/HangTests.swift:",
            ]
        case .callback:
            ["a promise made at", "then a callback at Loop/HangTests.swift:"]
        }
    }

    /// Makes the program hang. Returns a closure that ends what the shutdown of the loop does not end.
    func begin(on loop: EventLoop) throws -> () throws -> Void {
        switch self {
        case .heldLock:
            let mutex = FutureMutex(on: loop)
            var permit: Permit?
            hang(on: loop) {
                permit = try await mutex.lock().value
                try await mutex.lock().value.release()
            }
            return { withExtendedLifetime((permit, mutex)) {} }
        case .keptPromise:
            let promise = loop.makePromise(of: Int.self)
            hang(on: loop) { _ = try await promise.future.map { $0 + 1 }.value }
            return { promise.succeed(1) }
        case .unfedReader:
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                _ = try await connection.read(exactly: 100).value
            }
            server.onConnectionError = { _ in }
            let client = try loop.connect(to: server.localAddress)
            client.write("hello")
            return { withExtendedLifetime(client) {} }
        case .drain:
            let scope = FutureScope(on: loop)
            scope.run { try await loop.sleep(for: .seconds(600)).value }
            scope.drain(within: .seconds(300))
            scope.ended.ignoreFailure()
            return { scope.cancel() }
        case .lookUp:
            let silent = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let resolver = try DNSResolver(servers: [silent.localAddress])
            hang(on: loop) { _ = try await resolver.addresses(of: "example.org", on: loop).value }
            return { withExtendedLifetime((silent, resolver)) {} }
        case .deafChild:
            var deaf = shell("trap '' TERM; echo deaf; while :; do sleep 1; done")
            deaf.standardOutput = .stream
            let child = try ChildProcess.start(deaf, on: loop)
            _ = try loop.run(until: child.standardOutput!.readLine())
            hang(on: loop) { _ = try await child.end(within: .seconds(600)).value }
            return { child.end(within: .zero) }
        case .backPressure:
            let (near, far) = try loop.connectedPair()
            hang(on: loop) { try await near.write(Data(count: 20_000_000)).value }
            return { withExtendedLifetime(far) {} }
        case .circle:
            var bodies: [Future<Void>] = []
            for number in 0..<2 {
                let body = Future(on: loop) {
                    try await loop.sleep(for: .zero).value
                    try await bodies[1 - number].value
                }
                body.ignoreFailure()
                bodies.append(body)
            }
            return { for body in bodies { body.cancel(.evenIfOthersWaiting) } }
        case .elsewhere:
            var continuation: CheckedContinuation<Void, Never>?
            hang(on: loop) { await withCheckedContinuation { continuation = $0 } }
            return { continuation?.resume() }
        case .callback:
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenSuccess { _ in }
            return { promise.succeed(1) }
        }
    }

    private func hang(on loop: EventLoop, _ body: @escaping () async throws -> Void) {
        Future(on: loop, body).ignoreFailure()
    }
}

struct HangTests {
    @Test("the cause of a hang is found in the snapshot", arguments: Hang.allCases)
    func cause(hang: Hang) throws {
        try withLoop(ignoringUnhandled: true) { loop in
            loop.isTraced = true
            let end = try hang.begin(on: loop)
            try loop.run(for: .milliseconds(20))
            let text = loop.dump()
            var rest = text[...]
            for part in hang.said {
                #if DEBUG
                    let part = part
                #else
                    let part = part.replacing(#/( made)?,?( at)?( Loop\/.*)?$|, held since.*/#, with: "")
                #endif
                if part.isEmpty { continue }
                guard let range = rest.range(of: part) else {
                    Issue.record("\(part) is not said, or not in order: \(text)")
                    break
                }
                rest = rest[range.upperBound...]
            }
            try end()
        }
    }
}
