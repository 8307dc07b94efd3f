import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct UnixSocketTests: UsesUnixSockets {
    @Test(
        "an abstract name is no file, and free again when the server is closed",
        arguments: TestNetwork.allCases)
    func abstract(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
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

    @Test(
        "a path of 107 bytes works, and a longer one, an empty one and one with a zero byte are refused",
        arguments: TestNetwork.allCases)
    func paths(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
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
                the socket path \(longest)x is too long: it has 108 bytes, but the system allows 107; give a shorter \
                one, perhaps a relative one
                """,
                name + "x": """
                the socket path \(name)x is too long: it has 108 bytes, but the system allows 107; give a shorter \
                one, perhaps a relative one
                """,
                "": #"a socket path of "" is empty; give a path, or @ followed by a name"#,
                "@": #"a socket path of "@" is empty; give a path, or @ followed by a name"#,
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
        "a socket at which somebody listens is not replaced, be its backlog full or not", arguments: [0, 10],
        TestNetwork.allCases)
    func inUse(backlog: Int, network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, options: ListenOptions(backlog: backlog), on: loop)
            let waiting = try (0...1).map { _ in
                try loop.run(
                    until: UnixConnection.connect(path: path, timeout: .zero, on: loop).map { Optional($0) }
                        .recover { error in
                            #expect((error as? SystemError)?.code == .timedOut)
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
                        == "cannot listen at \(path): there is a file that is not a socket; remove it or give another path"
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
}
