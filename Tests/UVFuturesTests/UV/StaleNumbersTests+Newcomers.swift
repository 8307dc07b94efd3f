import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

extension StaleNumbersTests {
    /// What gets the number of a descriptor that other code has closed.
    enum Newcomer: String, CaseIterable, Codable, CustomTestStringConvertible {
        case connection, unixConnection, accepted, adopted, pipe, listener, datagrams, watch, terminal, master
        case program, programOutput, programTerminal, fileWatch

        var testDescription: String { rawValue }

        typealias Proof = () throws -> Void

        /// Prepares it. What is returned makes it, and returns how to prove that it works.
        func prepare(on stage: Stage) throws -> () throws -> Proof {
            let loop = stage.loop
            switch self {
            case .connection, .accepted:
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let port = listener.localAddress.port
                let waiting = self == .accepted ? PlainSocket.connected(to: port) : nil
                // The former owner of the number must not take what has come already.
                if let waiting { precondition(waiting.send([1, 2])) }
                return {
                    let client =
                        self == .accepted
                        ? nil : TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
                    var server: TCPConnection?
                    var other: TCPConnection?
                    return {
                        if server == nil {
                            server = try stage.run(until: listener.accept())
                            other = try client.map { try stage.run(until: $0) }
                        } else if let waiting {
                            precondition(waiting.send([1, 2]))
                        }
                        if let other {
                            try stage.passes(server!, other)
                            try stage.passes(other, server!)
                        } else {
                            try #require(try stage.run(until: server!.read()).count == 2)
                        }
                    }
                }
            case .unixConnection:
                let name = "@stale.\(getpid())"
                let listener = try UnixListener(path: name, on: loop)
                return {
                    let connecting = UnixConnection.connect(path: name, on: loop)
                    var pair: (UnixConnection, UnixConnection)?
                    return {
                        if pair == nil { pair = try stage.run(until: connecting.and(listener.accept())) }
                        try stage.passes(pair!.1, pair!.0)
                    }
                }
            case .adopted:
                return {
                    var ends: [CInt] = [-1, -1]
                    precondition(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
                    let streams = try ends.map { try UnixConnection(adopting: $0, on: loop) }
                    return { try stage.passes(streams[1], streams[0]) }
                }
            case .pipe:
                return {
                    let pipe = try loop.makePipe()
                    let first = pipe.reading.read()
                    var isFirst = true
                    return {
                        defer { isFirst = false }
                        guard isFirst else { return try stage.passes(pipe.writing, pipe.reading) }
                        pipe.writing.write("text")
                        try #require(try stage.run(until: first) == Data("text".utf8))
                    }
                }
            case .listener:
                return {
                    let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                    return {
                        let client = PlainSocket.connected(to: listener.localAddress.port)
                        let server = try stage.run(until: listener.accept())
                        withExtendedLifetime(client) {}
                        _ = stage.failure(of: server.abort())
                    }
                }
            case .datagrams:
                let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                return {
                    let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                    return {
                        sender.send("text", to: socket.localAddress).ignoreFailure()
                        try stage.run(until: socket.receive())
                    }
                }
            case .watch:
                return {
                    var ends: [CInt] = [-1, -1]
                    precondition(unsafe uv_pipe(&ends, 0, 0) == 0)
                    let watch = try loop.watch(descriptor: ends[0])
                    let (reading, writing) = (ends[0], ends[1])
                    return {
                        var byte: UInt8 = 0
                        precondition(unsafe write(writing, &byte, 1) == 1)
                        try stage.run(until: watch.readable)
                        precondition(unsafe read(reading, &byte, 1) == 1)
                    }
                }
            case .terminal, .master:
                var ends: [CInt] = []
                try withTerminal { person, program in ends = [dup(person), program] }
                let isMaster = self == .master
                // The loop copies the terminal, keeps one number from libuv, and opens the terminal under the next.
                let spare = isMaster ? [] : [dup(2), dup(2)]
                return {
                    for descriptor in spare { close(descriptor) }
                    let stream = try DescriptorStream(adopting: ends[isMaster ? 0 : 1], on: loop)
                    return {
                        precondition(unsafe write(ends[isMaster ? 1 : 0], "text\n", 5) == 5)
                        try #require(try stage.run(until: stream.readLine()) == Data("text".utf8))
                    }
                }
            case .program, .programOutput, .programTerminal:
                var configuration = ChildProcess.Configuration("printf", self == .program ? "" : "text")
                switch self {
                case .programTerminal: configuration.terminal = .init(columns: 80, rows: 24)
                case .programOutput:
                    (configuration.standardInput, configuration.standardOutput) = (.inherited, .stream)
                default: configuration.standardInput = .inherited
                }
                return {
                    let child = try ChildProcess.start(configuration, on: loop)
                    var isFirst = true
                    return {
                        guard isFirst else { return }
                        isFirst = false
                        let output = self == .programTerminal ? child.terminal : child.standardOutput
                        if let output {
                            try #require(try stage.run(until: output.readToEnd()) == Data("text".utf8))
                        }
                        try #require(try stage.run(until: child.exit).isSuccess)
                    }
                }
            case .fileWatch:
                var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
                try #require(unsafe mkdtemp(&template) != nil)
                let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return {
                    let watching = FileWatch.watch(directory: path, on: loop)
                    return {
                        let watch = try stage.run(until: watching)
                        _ = FileManager.default.createFile(atPath: path + "/file", contents: nil)
                        try stage.run(until: watch.next())
                        try FileManager.default.removeItem(atPath: path + "/file")
                        try stage.run(until: watch.next())
                    }
                }
            }
        }

        /// Whether it is a program, which gives its numbers back when it has ended. All others keep theirs.
        var ends: Bool { [.program, .programOutput, .programTerminal].contains(self) }
    }
}
