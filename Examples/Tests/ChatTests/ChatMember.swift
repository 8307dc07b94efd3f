import Foundation
import UVFutures

@testable import Chat

/// A member that numbers its messages, connects again when its connection ends, and repeats what was not acknowledged.
final class ChatMember {
    let name: String
    private let loop: EventLoop
    private let servers: [String]
    private var number = 0
    private var pending: [(number: Int, text: String)] = []
    private var connection: TCPConnection?
    private var last = EntryID.start
    private var hasEnded = false
    private(set) var acknowledged: [String] = []
    private(set) var heard: [String] = []

    init(_ name: String, _ servers: [String], on loop: EventLoop) {
        (self.name, self.servers, self.loop) = (name, servers, loop)
    }

    var isDone: Bool { hasEnded && pending.isEmpty }
    var pendingCount: Int { pending.count }

    func begin(until end: Duration) {
        connect(0).ignoreFailure()
        Future<Void>(on: loop) {
            let start = self.loop.now
            while start.duration(to: self.loop.now) < end {
                try await self.loop.sleep(
                    for: .milliseconds(Int.random(in: 1...800, using: &self.loop.random))
                )
                .value
                self.number += 1
                self.pending.append((self.number, "words \(self.number)"))
                self.connection?.write("/say \(self.number) words \(self.number)\n")
            }
            self.hasEnded = true
        }
        .ignoreFailure()
        let asking = loop.repeat(every: .seconds(1)) { [self] in connection?.write("/who\n").ignoreFailure() }
        asking.future.ignoreFailure()
    }

    private func connect(_ attempt: Int) -> Future<Void> {
        var limits = StreamLimits()
        // Somebody says something each second.
        limits.readTimeout = .seconds(3)
        let server = servers[Int.random(in: 0..<servers.count, using: &loop.random)]
        return TCPConnection.connect(host: server, port: 7, limits: limits, on: loop)
            .timeout(after: .seconds(2))
            .flatMap { [self] connection in serve(connection) }
            .flatMapResult { [self] _ in loop.sleep(for: .milliseconds(50)) }
            .flatMap { [self] in connect(attempt + 1) }
    }

    private func serve(_ connection: TCPConnection) -> Future<Void> {
        connection.write("/as secret-\(name)\n/name \(name)\n/join lobby \(last)\n").ignoreFailure()
        for (number, text) in pending { connection.write("/say \(number) \(text)\n").ignoreFailure() }
        self.connection = connection
        return Future<Void>(on: loop) {
            for try await line in connection.lines() { self.take(String(decoding: line, as: UTF8.self)) }
        }
        .always { [self] in
            self.connection = nil
            connection.abort()
        }
    }

    private func take(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        if words[0] == "ok", let number = Int(words[1]) {
            // One that was sent twice is acknowledged twice.
            guard pending.first?.number == number else { return }
            acknowledged.append("\(name): \(pending.removeFirst().text)")
        } else if let id = EntryID(words[0]) {
            last = id
            heard.append(words[1])
        }
    }
}

/// A member that only listens, and remembers for each connection what it has heard.
final class ChatListener {
    private let loop: EventLoop
    private let server: String
    private(set) var heard: [[String]] = []

    init(_ server: String, on loop: EventLoop) { (self.server, self.loop) = (server, loop) }

    func begin() { connect().ignoreFailure() }

    private func connect() -> Future<Void> {
        var limits = StreamLimits()
        limits.readTimeout = .seconds(3)
        return TCPConnection.connect(host: server, port: 7, limits: limits, on: loop)
            .timeout(after: .seconds(2))
            .flatMap { [self] connection in serve(connection) }
            .flatMapResult { [self] _ in loop.sleep(for: .milliseconds(50)) }
            .flatMap { [self] in connect() }
    }

    private func serve(_ connection: TCPConnection) -> Future<Void> {
        heard.append([])
        connection.write("/join lobby\n").ignoreFailure()
        let asking = loop.repeat(every: .seconds(1)) { connection.write("/who\n").ignoreFailure() }
        asking.future.ignoreFailure()
        return Future<Void>(on: loop) {
            for try await line in connection.lines() {
                let text = String(decoding: line, as: UTF8.self)
                if !text.hasPrefix("*") { self.heard[self.heard.count - 1].append(text) }
            }
        }
        .always {
            asking.cancel()
            connection.abort()
        }
    }
}
