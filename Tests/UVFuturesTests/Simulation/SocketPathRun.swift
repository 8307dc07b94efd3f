import FoundationEssentials
import Futures
import UVFutures

/// A program of sockets at paths that is being run on a loop.
final class SocketPathRun: StepRun {
    typealias Program = SocketPathProgram

    private let loop: EventLoop
    private let root: Directory
    private let path: String
    private var listeners: [Int: UnixListener] = [:]
    private var connections: [Int: UnixConnection] = [:]
    private var sockets: [Int: UnixDatagramSocket] = [:]

    init(_ root: Directory, _ path: String, _ loop: EventLoop) {
        (self.root, self.path, self.loop) = (root, path, loop)
    }

    /// Returns what can be seen at the end, in the directory at `path` too. `settle` is called with the number of the
    /// settlings before, and a closure for what can be seen.
    static func outcomes(
        of program: Program, in path: String, on loop: EventLoop, _ traits: FileTraits,
        settle: (Int, () -> [String]) throws -> Bool
    ) throws -> [[String]] {
        let root = try loop.run(until: Directory.open(path, on: loop))
        let run = SocketPathRun(root, path, loop)
        var seen: [[String]] = []
        func settled() throws -> Bool {
            let isAsExpected = try settle(seen.count) { run.lines }
            seen.append(run.lines + FileTree(root, loop, traits).lines)
            return isAsExpected
        }
        defer { run.end() }
        var isCalm = true
        for (number, step, settles) in program.steps {
            // Files are changed on other threads.
            if step.changesFiles, !isCalm, try !settled() { return seen }
            isCalm = settles
            run.begin(number, step)
            if settles, try !settled() { return seen }
        }
        guard try settled() else { return seen }
        run.end()
        _ = try settled()
        return seen
    }

    var lines: [String] { outcomes.map { "\($0.number): \($0.text)" } }

    func end() {
        let closing =
            connections.values.map { $0.close() } + listeners.values.map { $0.close() }
            + sockets.values.map { $0.close() }
        (connections, listeners, sockets) = ([:], [:], [:])
        // One whose peer has gone may be told so now.
        for future in closing { try? loop.run(until: future) }
    }

    // MARK: Steps

    func begin(_ number: Int, _ step: Program.Step) {
        switch step {
        case .listen(let path, let permissions):
            note(number) {
                let listener = try UnixListener(
                    path: full(path), options: ListenOptions(permissions: permissions), on: loop)
                listeners[number] = listener
                return "\(listener.localAddress)"
            }
        case .connect(let path):
            outcomes.append((number, "pending"))
            watch(number, UnixConnection.connect(path: full(path), on: loop)) { connection in
                // Who accepts it learns of which step it is.
                connection.write("\(number)").ignoreFailure()
                connection.shutdownWrite().ignoreFailure()
                return self.take(number, connection)
            }
        case .accept(let listener):
            guard let listener = listeners[listener] else { return }
            outcomes.append((number, "pending"))
            let accepted = listener.accept().flatMap { connection in
                let text = self.take(number, connection)
                return connection.readToEnd().map { "\(text), of \(String(decoding: $0, as: UTF8.self))" }
            }
            watch(number, accepted) { $0 }
        case .bind(let path, let permissions):
            note(number) {
                take(
                    number,
                    try UnixDatagramSocket.bind(path: full(path), permissions: permissions, on: loop))
            }
        case .connectDatagrams(let path, let local):
            note(number) {
                take(
                    number,
                    try UnixDatagramSocket.connect(path: full(path), from: local.map(full), on: loop))
            }
        case .send(let sender, let target):
            guard let socket = sockets[sender] else { return }
            note(number) {
                // The number of bytes says which datagram it is.
                let target = try target.map { try SocketAddress(path: full($0)) }
                watch(number, socket.send(Data(count: number), to: target)) { "sent" }
                return "pending"
            }
        case .receive(let receiver):
            guard let socket = sockets[receiver] else { return }
            outcomes.append((number, "pending"))
            watch(number, socket.receive()) { datagram in
                let header = datagram.header
                return
                    "\(datagram.bytes.count) bytes from \(addressText(of: header.source)) to \(addressText(of: header.destination))"
            }
        case .close(let other):
            connections.removeValue(forKey: other)?.close().ignoreFailure()
            listeners.removeValue(forKey: other)?.close()
            sockets.removeValue(forKey: other)?.close()
        default: note(number) { try change(step) }
        }
    }

    private func change(_ step: Program.Step) throws -> String {
        switch step {
        case .write(let path): try loop.run(until: root.replace(path, with: Data("text".utf8)))
        case .contents(let path): return try loop.run(until: root.contents(of: path)).digest
        case .makeDirectory(let path): try loop.run(until: root.makeDirectory(path))
        case .makeSymbolicLink(let path, let target):
            try loop.run(until: root.makeSymbolicLink(path, to: target))
        case .link(let path, let new): try loop.run(until: root.link(path, as: new))
        case .rename(let path, let new): try loop.run(until: root.rename(path, to: new))
        case .setPermissions(let path, let permissions):
            try loop.run(until: root.setPermissions(of: path, to: permissions))
        case .remove(let path): try loop.run(until: root.remove(path))
        case .entries(let path):
            return try loop.all(root.entries(of: path)).map { "\($0.name) (\($0.kind))" }.sorted()
                .joined(separator: ", ")
        default: fatalError("\(step) changes no file")
        }
        return "done"
    }

    /// The path of a socket. An abstract name is one of this program alone.
    private func full(_ name: String) -> String { name == "@a" ? "@\(path)/a" : "\(path)/\(name)" }

    private func take(_ number: Int, _ connection: UnixConnection) -> String {
        connections[number] = connection
        return "\(addressText(of: connection.localAddress)) – \(addressText(of: connection.peerAddress))"
    }

    private func take(_ number: Int, _ socket: UnixDatagramSocket) -> String {
        sockets[number] = socket
        socket.onUnreachable { [unowned self] in outcomes.append((number, "told \(addressText(of: $0))")) }
        return "\(addressText(of: socket.localAddress)) – \(addressText(of: socket.peerAddress))"
    }
}
