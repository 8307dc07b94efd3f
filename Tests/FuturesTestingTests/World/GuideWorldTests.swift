import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// The program of the guide *Simulate your daemon*, and the bug that the world finds in it.
struct GuideWorldTests {
    @Test("a request that is repeated is added twice, and the world says when")
    func addedTwice() throws {
        do {
            try World.explore(seeds: 0..<200) { world in try addTen(world) { _ in } }
            Issue.record("nothing was found")
        } catch let failure as ExplorationFailure {
            let report = try #require(failure.reports.first)
            #expect(report.error is WrongSum)
            #expect(report.faults.count <= 10)
            if ProcessInfo.processInfo.environment["SHOW"] != nil { print(failure) }
        }
    }

    @Test("with numbers for the requests nothing is added twice")
    func addedOnce() throws {
        try World.explore(seeds: 0..<200 / UInt64(slowShare)) { world in
            try addTen(world) { $0.forgetsRepetitions = false }
        }
    }

    @Test("a program answers what a test writes to its standard input")
    func standardStreams() throws {
        let world = World(seed: 17)
        let host = try world.addHost("a") { host in
            let loop = host.loop
            let (input, output) = (try loop.standardInput(), try loop.standardOutput())
            output.write("ready\n")
            for try await line in input.lines() { output.write("you said \(line.count) bytes\n") }
            try await output.close().value
        }
        try world.run(until: { host.standardOutput.readLine() == "ready" })
        host.standardInput.write("hello\n")
        host.standardInput.end()
        try world.run(for: .seconds(1))
        #expect(host.standardOutput.readLines() == ["you said 5 bytes"])
    }

    @Test("a server group drains on a host as on threads")
    func serverGroup() throws {
        func serve(on loop: EventLoop) throws -> Future<ShutdownSummary> {
            let group = try TCPServerGroup.listen(host: "0.0.0.0", port: 7007, loops: 4, on: loop) {
                connection in connection.forEachChunk { chunk in connection.write(chunk) }
            }
            return group.drain(on: .terminate, within: .seconds(30), for: loop)
        }
        let world = World(seed: 17)
        var ended: Future<ShutdownSummary>?
        let host = try world.addHost("server") { host in ended = try serve(on: host.loop) }
        try world.run(for: .seconds(60))
        host.send(.terminate)
        let summary = try world.run(until: ended!)
        #expect("\(summary)" == "0 connections finished, 0 were aborted, 0 failed")
    }
}

/// Adds up the numbers that it is sent, and answers each with the sum.
private final class Adder {
    private(set) var sum = 0
    var forgetsRepetitions = true
    private var seen: Set<String> = []

    func serve(on loop: EventLoop) throws {
        let server = try TCPServer.listen(host: "0.0.0.0", port: 7007, on: loop) { [self] connection in
            for try await line in connection.lines() {
                add(String(decoding: line, as: UTF8.self))
                connection.write("\(sum)\n")
            }
        }
        server.onConnectionError = { _ in }
    }

    /// Takes a line of the number of a request and the number to add.
    private func add(_ line: String) {
        let parts = line.split(separator: " ")
        guard forgetsRepetitions || seen.insert(String(parts[0])).inserted else { return }
        sum += Int(parts[1]) ?? 0
    }
}

/// Sends a number to the server, again and again until it answers.
private func add(_ number: Int, request: Int, on loop: EventLoop) -> Future<Void> {
    loop.retry(attempts: 30, backoff: .constant(.seconds(1))) { _ in
        TCPConnection.connect(host: "server", port: 7007, timeout: .seconds(1), on: loop)
            .flatMap { connection in
                connection.write("\(request) \(number)\n")
                return connection.readLine().timeout(after: .seconds(1))
                    .map { guard $0 != nil else { throw NoAnswer() } }
                    .always { connection.close() }
            }
    }
}

private func addTen(_ world: World, _ prepare: (Adder) -> Void) throws {
    let adder = Adder()
    prepare(adder)
    try world.addHost("server") { host in try adder.serve(on: host.loop) }
    let client = try world.addHost("client")
    var mix = World.FaultMix()
    mix.kinds = [.partition, .breakConnections, .slow, .pause]
    world.injectFaults(mix, until: .seconds(20))
    let added = client.loop.forEach(0..<10, maxConcurrent: 1) { request in
        client.loop.sleep(for: .seconds(1)).flatMap { add(1, request: request, on: client.loop) }
    }
    try world.run(until: added)
    guard adder.sum == 10 else { throw WrongSum(sum: adder.sum) }
}

private struct NoAnswer: Error {}

private struct WrongSum: Error { let sum: Int }
