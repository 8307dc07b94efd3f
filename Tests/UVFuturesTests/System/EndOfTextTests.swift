import Foundation
import Futures
import Testing
import UVFutures

/// A text with a zero byte, at which the system would cut it off, and what a call may need.
struct TextScene {
    let text: String
    let directory: Directory
    let loop: EventLoop

    /// The text behind what would be left of it.
    func behind(_ start: String) -> String { start + text.drop { $0 != "\0" } }
}

/// A text on its way to a call of the system.
struct TextCrossing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Gives the text to the call, which throws an error or completes with one.
    let call: @Sendable (TextScene) throws -> Future<Void>?

    init<Value>(_ name: String, _ call: @escaping @Sendable (TextScene) throws -> Future<Value>) {
        testDescription = name
        self.call = { try call($0).asVoid() }
    }

    init(now name: String, _ call: @escaping @Sendable (TextScene) throws -> Void) {
        testDescription = name
        self.call = {
            try call($0)
            return nil
        }
    }

    static let all: [TextCrossing] = [
        TextCrossing("Directory.open") { Directory.open($0.text, on: $0.loop) },
        TextCrossing("open") { $0.directory.open($0.text) },
        TextCrossing("openDirectory") { $0.directory.openDirectory($0.text) },
        TextCrossing("information") { $0.directory.information(of: $0.text) },
        TextCrossing("setPermissions") { $0.directory.setPermissions(of: $0.text, to: 0o600) },
        TextCrossing("makeDirectory") { $0.directory.makeDirectory($0.text) },
        TextCrossing("makeDirectory with parents") {
            $0.directory.makeDirectory($0.text + "/b", withParents: true)
        },
        TextCrossing("rename") { $0.directory.rename($0.text, to: "b") },
        TextCrossing("rename to") { $0.directory.rename("a", to: $0.text) },
        TextCrossing("remove") { $0.directory.remove($0.text) },
        TextCrossing("removeDirectory") { $0.directory.removeDirectory($0.text) },
        TextCrossing("removeTree") { $0.directory.removeTree($0.text) },
        TextCrossing("link") { $0.directory.link("a", as: $0.text) },
        TextCrossing("makeSymbolicLink") { $0.directory.makeSymbolicLink($0.text, to: "a") },
        TextCrossing("makeSymbolicLink to") { $0.directory.makeSymbolicLink("b", to: $0.text) },
        TextCrossing("target") { $0.directory.target(ofSymbolicLink: $0.text) },
        TextCrossing("contents") { $0.directory.contents(of: $0.text) },
        TextCrossing("replace") { $0.directory.replace($0.text, with: Data()) },
        TextCrossing("append") { $0.directory.append(Data(), to: $0.text) },
        TextCrossing("follow") { File.follow($0.text, on: $0.loop) },
        TextCrossing("watch a file") { FileWatch.watch(file: $0.text, on: $0.loop) },
        TextCrossing("watch a directory") { FileWatch.watch(directory: $0.text, on: $0.loop) },
        TextCrossing("watch a tree") { FileWatch.watch(tree: $0.text, on: $0.loop) },
        TextCrossing(now: "a path of a socket") { _ = try SocketAddress(path: $0.text) },
        TextCrossing(now: "an address") { try listen($0.behind("127.0.0.1"), $0.loop) },
        TextCrossing(now: "a zone") { try listen($0.behind("fe80::1%lo"), $0.loop) },
        TextCrossing("connect by a path") { UnixConnection.connect(path: $0.text, on: $0.loop) },
        TextCrossing("connect") { TCPConnection.connect(host: $0.text, port: 1, on: $0.loop) },
        TextCrossing("connect a datagram socket") {
            UDPSocket.connect(host: $0.text, port: 1, on: $0.loop)
        },
        TextCrossing("SystemResolver") { try SystemResolver().resolve($0.text, port: 1, on: $0.loop) },
        TextCrossing("DNSResolver") { try DNSResolver().resolve($0.text, port: 1, on: $0.loop) },
        TextCrossing("services") { try DNSResolver().services(of: $0.text, on: $0.loop) },
        TextCrossing(now: "listen by a path") {
            _ = try UnixServer.listen(path: $0.text, on: $0.loop) { $0.pipe(to: $0) }
        },
        TextCrossing(now: "an interface") {
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: $0.loop)
            defer { socket.close() }
            try socket.setMulticastInterface($0.behind("lo"))
        },
        TextCrossing(now: "an interface of a group") {
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: $0.loop)
            defer { socket.close() }
            try socket.join("239.1.2.3", interface: $0.behind("lo"))
        },
        TextCrossing(now: "a status") { try Systemd.notify(.status($0.text)) },
        TextCrossing(now: "a user") { _ = try ChildProcess.User(named: $0.behind("root")) },
    ]
}

private func listen(_ host: String, _ loop: EventLoop) throws {
    _ = try TCPServer.listen(host: host, port: 0, on: loop) { echo($0) }
}

struct EndOfTextTests {
    @Test(
        "a text with a zero byte is refused with a sentence, and never cut off there",
        arguments: TextCrossing.all)
    func zeroByte(crossing: TextCrossing) throws {
        try withLoop { loop throws in
            try withDirectory { path throws in
                let directory = try loop.run(until: Directory.open(path, on: loop))
                _ = try loop.run(until: directory.replace("a", with: Data("text".utf8)))
                let isAbsolute = ["Directory.open", "follow", "watch"].contains {
                    crossing.testDescription.hasPrefix($0)
                }
                let text = isAbsolute ? "\(path)\0/evil" : "a\0evil"
                do {
                    let future = try crossing.call(.init(text: text, directory: directory, loop: loop))
                    if let future { try loop.run(until: future) }
                    Issue.record("taken")
                } catch FutureError.invalidArgument(let complaint) {
                    #expect(!complaint.utf8.contains(0), "\(complaint)")
                    let isSaid = ["zero byte", "NUL", "\\0", "\\u{00}", "control character"].contains {
                        complaint.contains($0)
                    }
                    #expect(isSaid && complaint.contains(";"), "\(complaint)")
                } catch {
                    Issue.record("\(error)")
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["a"])
                try loop.run(until: directory.close())
            }
        }
    }
}
