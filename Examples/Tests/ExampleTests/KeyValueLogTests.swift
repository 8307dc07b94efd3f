import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import KeyValueServer

/// What is on the disk is there again, whatever happened.
struct KeyValueLogTests {
    private static let path = "/data/log"

    private static func server(_ world: World, _ arguments: [String] = []) throws -> SimulatedHost {
        let parsed = try KeyValueServer.parse(
            ["--host", "0.0.0.0", "--port", "7", "--append-file", path, "--sync", "always"] + arguments)
        // A failure to start is unhandled, and ends the world.
        let host = try world.addHost("server") { host in
            host.disk.makeDirectory("/data")
            host.disk.latency = .uniform(.microseconds(50)...(.milliseconds(3)))
            _ = parsed.start(on: host.loop)
        }
        try world.run(for: .seconds(1))
        return host
    }

    private static func ask(_ world: World, _ client: SimulatedHost, _ text: String) -> Future<String> {
        TCPConnection.connect(host: "server", port: 7, on: client.loop).flatMap { connection in
            connection.write(text)
            connection.shutdownWrite()
            return connection.readToEnd().always { connection.close() }
        }
        .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("no acknowledged write is lost, and none is torn, at whatever system call the power goes")
    func power() throws {
        let isSoak = ProcessInfo.processInfo.environment["SOAK"] != nil
        try World.explore(seeds: 0..<(isSoak ? 2000 : 20)) { world in
            let host = try Self.server(world, ["--rewrite-size", "2000"])
            let client = try world.addHost("client")
            var acknowledged: [String: Int] = [:]
            var asked: [String: Int] = [:]
            for round in 0..<4 {
                // Several clients, so that one synchronisation serves many.
                for writer in 0..<5 {
                    Future<Void>(on: client.loop) {
                        let connection = try await TCPConnection.connect(
                            host: "server", port: 7, on: client.loop
                        ).value
                        defer { connection.abort() }
                        for number in 1...200 {
                            let (key, value) = ("k\(writer)-\(number % 7)", round * 1000 + number)
                            asked[key] = value
                            connection.write("SET \(key) \(value)\r\n")
                            guard let line = try await connection.readLine().value, line == Data("+OK".utf8)
                            else { return }
                            acknowledged[key] = value
                        }
                    }
                    .ignoreFailure()
                }
                let pause = Int.random(in: 1...40_000, using: &client.loop.random)
                try world.run(for: .milliseconds(200) + .microseconds(pause))
                host.crash()
                try world.run(for: .seconds(1))
                host.restart()
                try world.run(for: .seconds(2))
                let keys = asked.keys.sorted()
                let answer = try world.run(
                    until: Self.ask(world, client, "MGET \(keys.joined(separator: " "))\r\n"))
                let values = answer.split(separator: "\r\n").filter { !$0.hasPrefix("$") || $0 == "$-1" }
                    .dropFirst()
                for (key, value) in zip(keys, values) {
                    let found = Int(value) ?? 0
                    guard found >= acknowledged[key] ?? 0, found <= asked[key]! else {
                        throw Lost(
                            description: "\(key) is \(found), not \(acknowledged[key] ?? 0)…\(asked[key]!)")
                    }
                    (acknowledged[key], asked[key]) = (found == 0 ? nil : found, found == 0 ? nil : found)
                }
            }
        }
    }

    @Test("a full disk refuses writes and loses none that were acknowledged; when there is room, they go on")
    func full() throws {
        let world = World(seed: 1)
        let host = try Self.server(world)
        let client = try world.addHost("client")
        #expect(try world.run(until: Self.ask(world, client, "SET a 1\r\n")) == "+OK\r\n")
        host.disk.capacity = 0
        let refused = "-MISCONF Errors writing to the AOF file: \(SystemError.Code.noSpace.message)\r\n"
        #expect(try world.run(until: Self.ask(world, client, "SET a 2\r\n")) == refused)
        #expect(
            try world.run(until: Self.ask(world, client, "SET a 3\r\nGET none\r\nDEL a\r\n")) == refused
                + "$-1\r\n" + refused)
        host.disk.capacity = .max
        try world.run(for: .seconds(3))
        #expect(try world.run(until: Self.ask(world, client, "SET b 4\r\n")) == "+OK\r\n")
        host.crash()
        host.restart()
        try world.run(for: .seconds(2))
        #expect(try world.run(until: Self.ask(world, client, "GET b\r\n")) == "$1\r\n4\r\n")
    }

    @Test("everything comes back: values, times, what was removed, and what was appended")
    func comesBack() throws {
        let world = World(seed: 1)
        let host = try Self.server(world)
        let client = try world.addHost("client")
        let commands =
            "SET a 1\r\nAPPEND a 2\r\nSET b 1 EX 100\r\nSET c 1 EX 100\r\nPERSIST c\r\nINCR n\r\nINCR n\r\n"
            + "SET d 1\r\nDEL d\r\nSET e 1\r\nPEXPIRE e 100\r\nSET f 1\r\nEXPIRE f 50\r\nMSET x 1 y 2\r\nGETDEL x\r\n"
        _ = try world.run(until: Self.ask(world, client, commands))
        try world.run(for: .seconds(2))
        host.crash()
        host.restart()
        try world.run(for: .seconds(2))
        let answer = try world.run(
            until: Self.ask(world, client, "MGET a b c n d e f x y\r\nTTL b\r\nTTL c\r\nTTL f\r\nDBSIZE\r\n"))
        let lines = answer.split(separator: "\r\n").map(String.init)
        #expect(lines.dropLast(4).joined(separator: " ") == "*9 $2 12 $1 1 $1 1 $1 2 $-1 $-1 $1 1 $-1 $1 2")
        let times = lines.suffix(4).compactMap { Int($0.dropFirst()) }
        #expect(
            (90...99).contains(times[0]) && times[1] == -1 && (40...49).contains(times[2]) && times[3] == 6)
    }

    @Test("a file that has grown is written anew, and loses nothing")
    func rewrite() throws {
        let world = World(seed: 1)
        let host = try Self.server(world, ["--rewrite-size", "1000"])
        let client = try world.addHost("client")
        for round in 0..<50 {
            let text =
                (0..<10).map { "SET key\($0) \(round)-\($0)\r\n" }.joined()
                + "SET gone\(round) 1\r\nDEL gone\(round)\r\n"
            _ = try world.run(until: Self.ask(world, client, text))
        }
        try world.run(for: .seconds(2))
        #expect(host.disk.contents(of: Self.path)!.count < 4000)
        #expect(host.disk.contents(of: Self.path + ".rewrite") == nil)
        host.crash()
        host.restart()
        try world.run(for: .seconds(2))
        #expect(
            try world.run(until: Self.ask(world, client, "DBSIZE\r\nGET key9\r\n")) == ":10\r\n$4\r\n49-9\r\n"
        )
    }

    @Test(
        "what is changed while the file is written anew is in the new file",
        arguments: 0..<10 as Range<UInt64>)
    func changesMeanwhile(_ seed: UInt64) throws {
        let world = World(seed: seed)
        let host = try Self.server(world, ["--rewrite-size", "100000"])
        host.disk.latency = .uniform(.milliseconds(1)...(.milliseconds(30)))
        let client = try world.addHost("client")
        let connection = try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
        var random = client.loop.random
        var expected: [String: String] = [:]
        // So many that they take several portions.
        let text = String(repeating: "x", count: 3000)
        for number in 0..<6000 {
            let key = "key\(Int.random(in: 0..<300, using: &random))"
            let command: String
            switch number < 300 ? 9 : Int.random(in: 0..<10, using: &random) {
            case 0..<2: (command, expected[key]) = ("DEL \(key)", nil)
            case 4, 5:
                (command, expected[key]) = ("APPEND \(key) \(number),", (expected[key] ?? "") + "\(number),")
            default: (command, expected[key]) = ("SET \(key) \(number)\(text)", "\(number)\(text)")
            }
            connection.write(command + "\r\n")
            if number % 500 == 499 {
                let gone = (0..<280).map { "key\($0)" }
                for key in gone { expected[key] = nil }
                connection.write("DEL \(gone.joined(separator: " "))\r\n")
            }
            if number % 20 == 0 { _ = try world.run(until: connection.read()) }
        }
        connection.write("ECHO done\r\n")
        while try !world.run(until: connection.readLine())!.elementsEqual("done".utf8) {}
        try world.run(for: .seconds(2))
        #expect(host.disk.contents(of: Self.path)!.count < 4_000_000)
        host.crash()
        host.restart()
        try world.run(for: .seconds(2))
        let keys = expected.keys.sorted()
        let answer = try world.run(
            until: Self.ask(world, client, "DBSIZE\r\nMGET \(keys.joined(separator: " "))\r\n"))
        let lines = answer.split(separator: "\r\n")
        #expect(lines[0] == ":\(keys.count)")
        #expect(
            lines.dropFirst(2).enumerated().filter { $0.0 % 2 == 1 }.map(\.1)
                == keys.map { expected[$0]![...] })
    }

    /// What was written, and what is said of it when it is loaded.
    @Test(
        "a torn end is cut off with a message, and damage elsewhere is refused with its place",
        arguments: 0..<200)
    func damage(_ seed: UInt64) throws {
        let batches = ["a", "b", "c"].map {
            LogBatch.bytes(of: Array("*3\r\n$3\r\nSET\r\n$1\r\n\($0)\r\n$1\r\n1\r\n".utf8))
        }
        let whole = batches.reduce(Data(), +)
        let place = Int(seed) % whole.count
        var torn = whole.prefix(place)
        #expect(
            try load(Data(torn)).count
                == [batches[0].count, batches[0].count + batches[1].count, .max].filter { $0 <= place }.count)
        torn = whole
        torn[place] ^= 0x15
        let isLast = place >= batches[0].count + batches[1].count
        let starts = [0, batches[0].count, batches[0].count + batches[1].count]
        let start = starts.last { $0 <= place }!
        if isLast {
            #expect(try load(torn).count == 2)
        } else {
            let error = #expect(throws: LogError.self) { try load(torn) }
            #expect(
                error?.description.hasPrefix(
                    "/data/log is damaged at offset \(start), and changes follow there") == true)
        }
    }

    /// Loads a log with these bytes.
    private func load(_ bytes: Data) throws -> KeyTable {
        let loop = EventLoop.virtual()
        loop.simulatedDisk.write(Self.path, bytes)
        let service = KeyValueService(on: loop)
        let loaded = service.openLog(at: Self.path, .no, rewriteSize: 1_000_000)
        while !loaded.isCompleted { loop.advance(by: .milliseconds(1)) }
        let text = try loaded.ignoreFailure().result!.get()
        #expect(text.contains("cut off") == (loop.simulatedDisk.contents(of: Self.path)!.count < bytes.count))
        return service.store.table
    }
}

private struct Lost: Error, CustomStringConvertible { let description: String }
