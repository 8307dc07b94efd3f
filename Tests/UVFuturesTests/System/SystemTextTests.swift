import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// What the system takes for names, and text loses, merges or splits.
private let names: [[UInt8]] = [
    [0xFF, 0xE9, 0x41], [0x80], [0xC0, 0xAE], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x8F, 0xBE],
    // The same letter twice, what stands for a byte, and what stands for no character.
    [0xC3, 0xA9], [0x65, 0xCC, 0x81], [0xF4, 0x8F, 0xBE, 0x80], [0xEF, 0xBF, 0xBD],
    // It makes one character of the slash before it, and of an equal sign.
    [0xCC, 0x81, 0x78], [0x61, 0x0A],
]
private let texts = names.map { String(systemBytes: $0) }

struct SystemTextTests {
    @Test("bytes that become text become the same bytes again, and UTF-8 is itself")
    func roundTrip() {
        #expect(texts.map(\.systemBytes) == names)
        #expect("é/\u{10FF7F}😀".systemBytes == Array("é/\u{10FF7F}😀".utf8))
        #expect(String(systemBytes: "é/\u{10FF7F}😀".utf8) == "é/\u{10FF7F}😀")
        #expect(String(systemBytes: [0x41, 0xFF]).unicodeScalars.map(\.value) == [0x41, 0x10FFFF])
        var random = SeededGenerator(seed: 42)
        let pieces: [[UInt8]] = names + [[0x2F], [0xF4], [0x8F], [0xBE], [0x80], [0xF0, 0x9F, 0x98, 0x80]]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                pieces.randomElement(using: &random)!
            }
            let text = String(systemBytes: bytes)
            #expect(text.systemBytes == bytes)
            // Other code may hand the text on in pieces, or as UTF-8.
            #expect(String(decoding: Array(text.utf8), as: UTF8.self).systemBytes == bytes)
        }
    }

    @Test("files have all names that the system has, and each is itself", arguments: TestNetwork.allCases)
    func files(network: TestNetwork) throws {
        let path = network == .system ? try makeEmptyDirectory() : "/work"
        defer { if network == .system { try? FileManager.default.removeItem(atPath: path) } }
        try withLoop(network) { loop in
            if network == .virtual { loop.simulatedDisk.makeDirectory(path) }
            let directory = try loop.run(until: Directory.open(path, on: loop))
            let watch = try loop.run(until: FileWatch.watch(tree: path, on: loop))
            for (text, name) in zip(texts, names) {
                let inner = text + "/" + text
                try loop.run(until: directory.makeDirectory(inner, withParents: true))
                try loop.run(until: directory.removeDirectory(inner))
                try loop.run(until: directory.replace(inner, with: Data(name), durably: false))
                try loop.run(until: directory.rename(inner, to: text + "/other"))
                try loop.run(until: directory.link(text + "/other", as: inner))
                try loop.run(until: directory.makeSymbolicLink(text + "/link", to: text))
                #expect(
                    try loop.run(until: directory.target(ofSymbolicLink: text + "/link")).systemBytes == name)
                #expect(try loop.run(until: directory.contents(of: text + "/link")) == Data(name))
                let error = loop.failure(of: directory.open(text + "/missing")) as? FileError
                #expect(error?.path.systemBytes == name + Array("/missing".utf8))
                let below = try loop.run(until: Directory.open(path + "/" + text, on: loop))
                #expect(try loop.run(until: below.information(of: text)).linkCount == 2)
                try loop.run(until: below.close())
            }
            let entries = try loop.all(directory.entries())
            #expect(Set(entries.map(\.name.systemBytes)) == Set(names) && Set(entries).count == names.count)
            let walked = Set(try loop.all(directory.walk()))
            #expect(
                Set(walked.map(\.path.systemBytes)).count == names.count * 4
                    && walked.count == names.count * 4)
            if network == .system { #expect(Set(namesInKernel(path)) == Set(names)) }
            var missing = Set(names)
            var changes: [FileChange] = []
            while !missing.isEmpty, changes.last?.kind != .lookAgain {
                changes.append(try loop.run(until: watch.next()))
                if changes.last?.kind == .created { missing.remove(changes.last!.path.systemBytes) }
            }
            // Where another test mounts something, a watch may ask its user to look again.
            #expect(missing.isEmpty || network == .system && changes.last?.kind == .lookAgain, "\(changes)")
            watch.close()
            for text in texts { try loop.run(until: directory.removeTree(text)) }
            #expect(try loop.all(directory.entries()).isEmpty)
            try loop.run(until: directory.close())
        }
    }

    @Test("changes of names that look the same are not the same change")
    func changes() {
        let kinds: [FileChange.Kind] =
            [.created, .modified, .attributes, .removed, .lookAgain] + texts.map { .moved(from: $0) }
        let all = texts.flatMap { text in kinds.map { FileChange(path: text, kind: $0) } }
        #expect(Set(all).count == texts.count * kinds.count)
        #expect(all == all.map { FileChange(path: $0.path, kind: $0.kind) })
    }

    @Test("a program gets its arguments, its variables and its directory byte for byte")
    func programs() throws {
        try withDirectory { loop, directory, path in
            let printf = ChildProcess.Configuration("/usr/bin/printf", arguments: ["%s\\0"] + texts)
            #expect(try loop.output(of: printf).split(separator: 0).map(Array.init) == names)

            var env = ChildProcess.Configuration("/usr/bin/env", "-0")
            env.environment = .bytes(Dictionary(uniqueKeysWithValues: names.map { ($0, $0.reversed()) }))
            let lines = names.map { $0 + [UInt8(ascii: "=")] + $0.reversed() }
            #expect(Set(try loop.output(of: env).split(separator: 0).map(Array.init)) == Set(lines))
            for (text, name) in zip(texts, names) {
                env.environment = .only([text: text])
                #expect(try loop.output(of: env) == Data(name + [UInt8(ascii: "=")] + name + [0]))
                try loop.run(until: directory.makeDirectory(text))
                try loop.run(until: directory.makeSymbolicLink(text + "/" + text, to: "/bin/pwd"))
                let place = path + "/" + text
                var pwd = ChildProcess.Configuration(place + "/" + text)
                (pwd.workingDirectory, pwd.standardOutput) = (place, .file(place + "/out", appending: false))
                #expect(try loop.exit(of: pwd) == .code(0))
                let written = try loop.run(until: directory.contents(of: text + "/out"))
                #expect(written == Data(Array(path.utf8) + [UInt8(ascii: "/")] + name + [0x0A]))
            }
        }
    }

    @Test("variables that a program cannot have are refused, by their bytes")
    func refusals() throws {
        try withLoop { loop in
            func refusal(_ environment: ChildProcess.Environment) -> String? {
                var configuration = ChildProcess.Configuration("/bin/true")
                configuration.environment = environment
                return complaint { _ = try ChildProcess.start(configuration, on: loop) }
            }
            #expect(
                refusal(.bytes([Array("=\u{301}".utf8): []]))
                    == "an environment variable cannot be called \"=\u{301}\"; give a name without =")
            #expect(refusal(.only(["=\u{301}": ""])) == refusal(.bytes([Array("=\u{301}".utf8): []])))
            #expect(
                refusal(.bytes([[0x41]: [0x61, 0, 0x62]]))
                    == "a text for /bin/true contains a NUL, which would cut it off: \"a\\0b\"; leave it out"
            )
            #expect(
                refusal(.inheriting(with: ["\u{10FFC3}\u{10FFA9}": "1", "é": "2"]))?.hasPrefix(
                    "two environment variables have the bytes of ") == true)
            unsafe setenv("UVFUTURES_SYSTEM_TEXT", "1", 1)
            #expect(
                ChildProcess.Environment.bytesOfThisProcess[Array("UVFUTURES_SYSTEM_TEXT".utf8)]
                    == [UInt8(ascii: "1")])
        }
    }

    @Test("a simulated program gets them, too")
    func simulatedPrograms() throws {
        let loop = EventLoop.virtual()
        var seen: (arguments: [[UInt8]], directory: [UInt8]?, bytes: [[UInt8]: [UInt8]]) = ([], nil, [:])
        for text in texts {
            loop.simulatedPrograms[text] = { process in
                seen = (
                    process.arguments.map(\.systemBytes), process.workingDirectory?.systemBytes,
                    process.environmentBytes
                )
                return process.loop.succeeded(0)
            }
        }
        for (text, name) in zip(texts, names) {
            var configuration = ChildProcess.Configuration("/bin/" + text, arguments: texts)
            configuration.workingDirectory = text
            let variables = Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })
            configuration.environment = .bytes(variables)
            #expect(try loop.exit(of: configuration) == .code(0))
            #expect(seen.arguments == [Array("/bin/".utf8) + name] + names)
            #expect(seen.directory == name && seen.bytes == variables)
        }
        loop.shutdown()
    }

    @Test("sockets have all names, and who has one is not taken for another", arguments: TestNetwork.allCases)
    func sockets(network: TestNetwork) throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try withLoop(network) { loop in
            if network == .virtual { loop.simulatedDisk.makeDirectory(path) }
            let unique = "\(UInt64.random(in: .min ... .max))"
            let zero = "@\(unique)\0a"
            let paths = texts.flatMap { ["\(path)/\($0)", "@\(unique)\($0)"] } + [zero, zero + "\0"]
            let receiver = try UnixDatagramSocket.bind(path: path + "/receiver", on: loop)
            let senders = try paths.map { text in
                try UnixDatagramSocket.connect(path: path + "/receiver", from: text, on: loop)
            }
            for (sender, text) in zip(senders, paths) {
                sender.send("hello")
                let source = try loop.run(until: receiver.receive()).source
                #expect(
                    source == (try SocketAddress(path: text)) && source?.path?.systemBytes == text.systemBytes
                )
                receiver.send("answer", to: source)
                #expect(try loop.run(until: sender.receive()).bytes == Data("answer".utf8))
            }
            #expect(Set(try paths.map { try SocketAddress(path: $0) }).count == paths.count)
            for socket in senders { try loop.run(until: socket.close()) }
            let servers = try paths.map { text in
                try UnixServer.listen(path: text, on: loop) { $0.write(Data(text.systemBytes)) }
            }
            for text in paths {
                let connection = try loop.run(until: UnixConnection.connect(path: text, on: loop))
                #expect(connection.peerAddress?.path?.systemBytes == text.systemBytes)
                #expect(try loop.run(until: connection.readToEnd()) == Data(text.systemBytes))
                try loop.run(until: connection.close())
            }
            for server in servers { _ = try loop.run(until: server.shutdown(within: .seconds(5))) }
            try loop.run(until: receiver.close())
        }
        #expect(namesInKernel(path) == [])
    }

    @Test("a file whose name begins with @ is no abstract name")
    func at() throws {
        let (file, name) = (Array("@a".utf8), [0, UInt8(ascii: "a")])
        let block = { (bytes: [UInt8]) in bytes + [UInt8](repeating: 0, count: 108 - bytes.count) }
        let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
        let bytes = Data(signature + [0x21, 0x31, 0, 216] + block(file) + block(name))
        let header = try ProxyHeader(binary: Array(bytes))
        #expect([header.source?.path, header.destination?.path] == ["./@a", "@a"])
        #expect(header.source?.isAbstract == false && header.destination?.isAbstract == true)
        #expect(try header.bytes(.v2) == bytes)
    }
}

extension EventLoop {
    fileprivate func output(of configuration: ChildProcess.Configuration) throws -> Data {
        let outcome = try run(until: ChildProcess.run(configuration, on: self))
        #expect(outcome.isSuccess, "\(outcome)")
        return outcome.standardOutput
    }
}

/// The names in a directory, as the kernel tells them.
private func namesInKernel(_ path: String) -> [[UInt8]] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
        if name != [0x2E], name != [0x2E, 0x2E] { names.append(name) }
    }
    return names
}
