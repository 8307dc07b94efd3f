import CLibUV
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct UnixTests {
    /// A directory for sockets, in which nothing may be left but what the test says.
    private func withDirectory(leaving left: [String] = [], _ body: (String, EventLoop) throws -> Void) throws
    {
        var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try withLoop { loop in try body(directory, loop) }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(names.sorted() == left.sorted())
        try FileManager.default.removeItem(atPath: directory)
    }

    private func echo(_ connection: UnixConnection) -> Future<Int> { connection.pipe(to: connection) }

    private func answer(_ text: String, at path: String, _ loop: EventLoop) throws -> String {
        let connection = try loop.run(until: UnixConnection.connect(path: path, on: loop))
        connection.write(text)
        connection.shutdownWrite()
        let answer = try loop.run(until: connection.readToEnd())
        try loop.run(until: connection.close())
        return String(decoding: answer, as: UTF8.self)
    }

    private func end(_ server: UnixServer, _ loop: EventLoop) throws {
        #expect(try loop.run(until: server.shutdown(within: .seconds(5))).aborted == 0)
    }

    private func permissions(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// A file as a process leaves it that ended without a word.
    private func leaveSocket(at path: String) throws {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        try bindSocket(descriptor, path)
    }

    private func bindSocket(_ descriptor: CInt, _ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
    }

    @Test("a server at a path answers, says where it is, and takes its file with it")
    func path() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            let server = try UnixServer.listen(path: path, on: loop) { connection in
                #expect(connection.localAddress?.description == "unix:\(path)")
                #expect(connection.peerAddress?.description == "unix:unnamed")
                return echo(connection)
            }
            #expect(server.localAddress.path == path && !server.localAddress.isAbstract)
            #expect(server.localAddress.host.isEmpty && server.localAddress.port == 0)
            #expect(try answer("hello", at: path, loop) == "hello")
            try end(server, loop)
        }
    }

    @Test("an abstract name is no file, and free again when the server is closed")
    func abstract() throws {
        try withDirectory { directory, loop in
            let name = "@uvfutures-\(directory)"
            for _ in 0..<2 {
                let server = try UnixServer.listen(path: name, on: loop) { echo($0) }
                #expect(server.localAddress.isAbstract && "\(server.localAddress)" == "unix:\(name)")
                #expect(
                    complaint { _ = try UnixListener(path: name, on: loop) }
                        == "listen EADDRINUSE unix:\(name): address already in use")
                #expect(try answer("hello", at: name, loop) == "hello")
                try end(server, loop)
            }
        }
    }

    @Test("a path of 107 bytes works, and a longer one, an empty one and one with a zero byte are refused")
    func paths() throws {
        try withDirectory { directory, loop in
            let longest = directory + "/" + String(repeating: "x", count: 107 - directory.utf8.count - 1)
            let server = try UnixServer.listen(path: longest, on: loop) { echo($0) }
            #expect(try answer("hello", at: longest, loop) == "hello")
            try end(server, loop)
            let name = "@" + String(repeating: "x", count: 107)
            let listener = try UnixListener(path: name, on: loop)
            #expect(listener.localAddress.path == name)
            try loop.run(until: listener.close())

            let texts = [
                longest + "x": """
                the socket path \(longest)x is too long: it has 108 bytes, and the system takes 107; give a shorter \
                one, perhaps a relative one
                """,
                name + "x": """
                the socket path \(name)x is too long: it has 108 bytes, and the system takes 107; give a shorter \
                one, perhaps a relative one
                """,
                "": #"a socket path of "" is empty; give a path, or @ and a name"#,
                "@": #"a socket path of "@" is empty; give a path, or @ and a name"#,
                "a\0b": """
                the socket path "a\\0b" holds a zero byte, at which the system would end it; give a path without
                """,
            ]
            for (path, text) in texts {
                #expect(complaint { _ = try UnixListener(path: path, on: loop) } == text)
                #expect("\(loop.failure(of: UnixConnection.connect(path: path, on: loop))!)" == text)
                #expect(complaint { _ = try SocketAddress(path: path) } == text)
            }
        }
    }

    private func isOneLine(_ text: String) -> Bool {
        text.utf8.count < 3_000 && !text.utf8.contains { $0 < 32 || $0 == 127 }
    }

    @Test("whatever is given for a path is one that the system takes as it is, or refused in one line")
    func anything() {
        var random = SeededGenerator()
        var (taken, refused) = (0, 0)
        let pieces = [
            "/", "//", "@", ".", "..", "\0", "\n", " ", "a", "ä", "\u{202e}", "\u{301}", "run", "echo.sock",
        ]
        for _ in 0..<largeCount {
            var path = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }.joined()
            if random.below(4) == 0 { path += String(repeating: "x", count: 90 + random.below(30)) }
            if random.below(8) == 0 {
                path += String(decoding: random.bytes(random.below(120)), as: UTF8.self)
            }
            do {
                let address = try SocketAddress(path: path)
                taken += 1
                // As the system gives it back.
                let isAbstract = path.utf8.first == UInt8(ascii: "@")
                guard address.path == path, path.utf8.count <= (isAbstract ? 108 : 107),
                    !path.utf8.contains(0),
                    address.isAbstract == isAbstract, isOneLine("\(address)")
                else {
                    Issue.record("\(path.debugDescription) became \(address)")
                    return
                }
            } catch {
                refused += 1
                guard case .invalidArgument(let text) = error as? FutureError,
                    text.utf8.starts(with: "a socket path of ".utf8)
                        || text.utf8.starts(with: "the socket path ".utf8), isOneLine(text)
                else {
                    Issue.record("\(path.debugDescription): \(error)")
                    return
                }
            }
        }
        #expect(min(taken, refused) > largeCount / 100, "\(taken) \(refused)")
    }

    @Test("a path is shown in one line, and is abstract by its first byte, whatever follows that")
    func odd() throws {
        let path = "/tmp/a\nb\u{202e}\u{7f}ä"
        #expect(try "\(SocketAddress(path: path))" == #"unix:/tmp/a\nb\u{202E}\u{7F}ä"#)
        #expect(try SocketAddress(path: path).path == path)
        let long = String(repeating: "x", count: 1_000_000)
        #expect(
            complaint { _ = try SocketAddress(path: long) }
                == "the socket path \(long.prefix(200))… is too long: it has 1000000 bytes, and the system takes 107; give "
                + "a shorter one, perhaps a relative one")
        #expect(try SocketAddress(path: "@\u{301}x").isAbstract)
        try withLoop { loop in
            let name = "@\u{301}-\(getpid())"
            let listener = try UnixListener(path: name, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: name, on: loop))
            #expect(client.peerAddress?.path == name)
            try loop.run(until: client.close().and(listener.close()).map { _ in })
        }
    }

    @Test("a relative path is that of the directory in which the server began to listen")
    func relative() throws {
        try withDirectory { directory, loop in
            // The working directory is the process's, and other tests run in it.
            let here = FileManager.default.currentDirectoryPath
            let up = String(repeating: "../", count: here.split(separator: "/").count)
            let path = up + directory.dropFirst() + "/echo"
            guard path.utf8.count <= 107 else { return }
            let server = try UnixServer.listen(path: path, on: loop) { echo($0) }
            #expect(try answer("hello", at: directory + "/echo", loop) == "hello")
            try end(server, loop)
        }
    }

    @Test("a socket that nobody listens at any more is replaced")
    func stale() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            try leaveSocket(at: path)
            let refused = loop.failure(of: UnixConnection.connect(path: path, on: loop))
            #expect("\(refused!)" == "connect ECONNREFUSED unix:\(path): connection refused")
            let server = try UnixServer.listen(path: path, on: loop) { echo($0) }
            #expect(try answer("hello", at: path, loop) == "hello")
            try end(server, loop)
        }
    }

    @Test(
        "a socket at which somebody listens is not replaced, be its backlog full or not", arguments: [0, 10])
    func inUse(backlog: Int) throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, backlog: backlog, on: loop)
            let waiting = try (0...1).map { _ in
                try loop.run(
                    until: UnixConnection.connect(path: path, timeout: .zero, on: loop).map { Optional($0) }
                        .recover { error in
                            #expect((error as? UVError)?.code == .timedOut)
                            return nil
                        })
            }
            #expect(
                complaint { _ = try UnixListener(path: path, on: loop) }
                    == "listen EADDRINUSE unix:\(path): address already in use")
            try loop.run(until: listener.close())
            loop.closeAll(waiting.compactMap { $0 })
        }
    }

    @Test("a socket of messages, a file, a directory and a link that leads nowhere are not replaced")
    func noSockets() throws {
        try withDirectory(leaving: ["datagrams", "directory", "file", "link"]) { directory, loop in
            let datagrams = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            defer { close(datagrams) }
            try bindSocket(datagrams, directory + "/datagrams")
            #expect(
                complaint { _ = try UnixListener(path: directory + "/datagrams", on: loop) }
                    == "listen EADDRINUSE unix:\(directory)/datagrams: address already in use")
            try Data("precious".utf8).write(to: URL(filePath: directory + "/file"))
            unsafe mkdir(directory + "/directory", 0o700)
            unsafe symlink(directory + "/nowhere", directory + "/link")
            for name in ["file", "directory", "link"] {
                let path = "\(directory)/\(name)"
                #expect(
                    complaint { _ = try UnixListener(path: path, on: loop) }
                        == "cannot listen at \(path): there is a file that is no socket; remove it or give another path"
                )
            }
        }
    }

    @Test(
        "what a successor has put in the file's place stays when the server is closed, or the loop shut down",
        arguments: [false, true])
    func successor(byShutdown: Bool) throws {
        try withDirectory(leaving: ["echo"]) { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, on: loop)
            unsafe unlink(path)
            try leaveSocket(at: path)
            if !byShutdown { try loop.run(until: listener.close()) }
            withExtendedLifetime(listener) {}
        }
    }

    @Test("the file has the permissions asked for, whatever the umask", arguments: [0o000, 0o077, 0o777])
    func permissions(mask: Int) async {
        await #expect(processExitsWith: .success) { [mask] in
            umask(mode_t(mask))
            try UnixTests().withDirectoryOfOwner { directory, loop in
                for permissions: UInt32 in [0o600, 0o660, 0o777] {
                    let listener = try UnixListener(
                        path: directory + "/echo", permissions: permissions, on: loop)
                    #expect(UnixTests().permissions(directory + "/echo") == permissions)
                    try loop.run(until: listener.close())
                }
                let listener = try UnixListener(path: directory + "/echo", on: loop)
                #expect(UnixTests().permissions(directory + "/echo") == 0o777 & ~UInt32(mask))
                try loop.run(until: listener.close())
            }
        }
    }

    private func withDirectoryOfOwner(_ body: (String, EventLoop) throws -> Void) throws {
        try withDirectory { directory, loop in
            unsafe chmod(directory, 0o700)
            try body(directory, loop)
        }
    }

    @Test("permissions that make no sense are refused, and what is refused leaves no file")
    func arguments() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            #expect(
                complaint { _ = try UnixListener(path: path, permissions: 0o1777, on: loop) }
                    == "permissions of 0o1777 make no sense; give 0o000 to 0o777")
            #expect(
                complaint { _ = try UnixListener(path: "@name", permissions: 0o600, on: loop) }
                    == "the abstract name @name can have no permissions: everybody can connect; leave them out, and ask "
                    + "for peerCredentials")
            #expect(
                complaint { _ = try UnixListener(path: path, backlog: -1, on: loop) }
                    == "a backlog of -1 is out of range; give 0 to 2147483647")
            let negative = UnixConnection.connect(path: path, timeout: .seconds(-1), on: loop)
            #expect(
                loop.failure(of: negative) as? FutureError
                    == .invalidArgument("a time limit of -1.0 seconds is negative; give zero or more"))
            let missing = loop.failure(of: UnixConnection.connect(path: path, on: loop)) as? UVError
            #expect(missing?.code == .notFound)
            #expect("\(missing!)" == "connect ENOENT unix:\(path): no such file or directory")
        }
    }

    @Test("each end knows which process the other is")
    func credentials() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let server = try loop.run(until: listener.accept())
            for connection in [client, server] {
                let peer = try connection.peerCredentials
                #expect(peer.processID == getpid() && peer.userID == getuid() && peer.groupID == getgid())
            }
            client.abort()
            #expect(throws: StreamError.connectionClosed) { try client.peerCredentials }
            try loop.run(until: server.close().and(listener.close()).map { _ in })
        }
    }

    @Test("a client waits for room in the backlog, until its time is up or it is cancelled")
    func fullBacklog() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, backlog: 0, on: loop)
            let first = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let second = UnixConnection.connect(path: path, timeout: .milliseconds(20), on: loop)
            #expect("\(loop.failure(of: second)!)" == "connect ETIMEDOUT unix:\(path): connection timed out")
            let third = UnixConnection.connect(path: path, on: loop)
            let fourth = UnixConnection.connect(path: path, on: loop)
            #expect(third.cancel())
            let accepted = try loop.run(until: listener.accept())
            let late = try loop.run(until: fourth)
            let last = try loop.run(until: listener.accept())
            loop.closeAll(first, accepted, late, last)
            try loop.run(until: listener.close())
        }
    }

    @Test("a peer that goes while reading is paused costs no turns")
    func pausedHangUp() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            var limits = StreamLimits()
            limits.readHighWaterMark = 1
            limits.readLowWaterMark = 0
            let listener = try UnixListener(path: path, limits: limits, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let server = try loop.run(until: listener.accept())
            client.write("first")
            _ = try loop.run(until: server.read())
            client.write("second")
            let ticks = loop.repeat(every: .milliseconds(1)) {}
            try loop.run(until: client.close(within: .zero))
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            let before = loop.statistics.turns
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
            #expect(loop.statistics.turns - before < 200)
            ticks.cancel()
            #expect(try loop.run(until: server.readToEnd()) == Data("second".utf8))
            try loop.run(until: server.close().and(listener.close()).map { _ in })
        }
    }

    @Test("a server at a path has limits of accepting, too: what is over them waits in the backlog")
    func accepting() throws {
        try withDirectory { directory, loop in
            let limits = AcceptLimits(maxConnections: 1)
            var held: [UnixConnection] = []
            let servers = [
                try UnixServer.listen(path: directory + "/echo", accepting: limits, on: loop) { echo($0) },
                try UnixServer.listen(
                    path: directory + "/hold", accepting: limits, on: loop, owning: { held.append($0) }),
            ]
            for server in servers {
                let path = server.localAddress.path!
                let clients = try (0..<2).map { _ in
                    try loop.run(until: UnixConnection.connect(path: path, on: loop))
                }
                try loop.runUntil { server.statistics.pauses == 1 }
                #expect(server.activeConnections == 1)
                loop.closeAll([clients[0]] + held)
                try loop.runUntil { server.statistics.accepted == 2 }
                loop.closeAll([clients[1]] + held)
                try loop.runUntil { server.activeConnections == 0 }
                try end(server, loop)
            }
            let refused = AcceptLimits(maxConnections: 0)
            let sentence = "a limit of 0 connections would take none; give one or more, or nil for no limit"
            #expect(
                complaint {
                    _ = try UnixServer.listen(path: directory + "/echo", accepting: refused, on: loop) {
                        echo($0)
                    }
                } == sentence)
        }
    }

    @Test("one server listens on TCP and at a path, and tells by the address what came")
    func mixed() throws {
        try withDirectory { directory, loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection -> Future<Int> in
                connection.write(connection is UnixConnection ? "unix " : "tcp ")
                return connection.pipe(to: connection)
            }
            let tcp = try server.listen(host: "127.0.0.1", port: 0)
            try server.listen(path: directory + "/echo")
            #expect(try answer("x", at: directory + "/echo", loop) == "unix x")
            let client = try loop.connect(to: tcp)
            client.write("x")
            client.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd()) == Data("tcp x".utf8))
            try loop.run(until: client.close())
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }

    @Test("a socket that listens is taken over and given up, and its file is nobody's then")
    func adoptListener() throws {
        try withDirectory(leaving: ["echo"]) { directory, loop in
            let path = directory + "/echo"
            let first = try UnixListener(path: path, on: loop)
            let descriptor = try first.release()
            let server = UnixServer(on: loop) { echo($0) }
            #expect(try server.listen(adopting: descriptor).path == path)
            #expect(try answer("hello", at: path, loop) == "hello")
            try end(server, loop)

            let tcp = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let other = try tcp.release()
            defer { close(other) }
            #expect(
                complaint { _ = try UnixListener(adopting: other, on: loop) }?.contains("is a socket of TCP")
                    == true)
        }
    }

    @Test("a connected socket is taken over, and what is none is refused and stays open")
    func adoptConnection() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(
                unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            let connections = try ends.map { try UnixConnection(adopting: $0, on: loop) }
            #expect("\(connections[0])".hasSuffix(" (unix:unnamed – unix:unnamed)"))
            connections[0].write("hello")
            #expect(try loop.run(until: connections[1].read()) == Data("hello".utf8))
            let released = try connections[1].release()
            let again = try UnixConnection(adopting: released, on: loop)
            again.write("back")
            #expect(try loop.run(until: connections[0].read()) == Data("back".utf8))
            loop.closeAll(connections[0], again)

            func refusal(_ descriptor: CInt) -> String? {
                defer { #expect(descriptor < 0 || close(descriptor) == 0) }
                let text = complaint { _ = try UnixConnection(adopting: descriptor, on: loop) }
                return text?.replacing("descriptor \(descriptor)", with: "D")
            }
            #expect(refusal(-1) == "D is not open; give one that is")
            #expect(
                refusal(unsafe open("/dev/null", O_RDWR))
                    == "D is not a socket of the UNIX domain; give one that is connected")
            #expect(
                refusal(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
                    == "D is not a socket of the UNIX domain; give one that is connected")
            #expect(
                refusal(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0))
                    == "D is a socket that is not connected; connect it before")
        }
    }

    @Test("bytes survive in both directions, in any amount")
    func manyBytes() throws {
        try withDirectory { directory, loop in
            let path = directory + "/echo"
            let server = try UnixServer.listen(path: path, on: loop) { echo($0) }
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 4) })
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let answer = client.readToEnd()
            client.write(bytes)
            client.shutdownWrite()
            #expect(try loop.run(until: answer) == bytes)
            try loop.run(until: client.close())
            try end(server, loop)
        }
    }
}
