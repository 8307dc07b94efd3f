import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

/// What a simulated disk refuses as the kernel does, and random programs seldom ask for.
struct FileRefusalTests: UsesUnixSockets {
    private func withRoot(
        _ network: TestNetwork, leaving left: [String] = [], _ body: (EventLoop, Directory) throws -> Void
    ) throws {
        try withDirectory(network, leaving: network == .system ? left : []) { path, loop in
            let directory = try loop.run(until: Directory.open(path, on: loop))
            try body(loop, directory)
            try loop.run(until: directory.close())
        }
    }

    @Test("a directory replaces an empty one, and no other", arguments: TestNetwork.allCases)
    func rename(network: TestNetwork) throws {
        try withRoot(network) { loop, directory in
            try loop.run(until: directory.makeDirectory("a"))
            try loop.run(until: directory.makeDirectory("b/c", withParents: true))
            #expect(loop.code(of: directory.rename("a", to: "b")) == .directoryNotEmpty)
            try loop.run(until: directory.removeDirectory("b/c"))
            try loop.run(until: directory.rename("a", to: "b"))
            try loop.run(until: directory.removeDirectory("b"))
        }
    }

    @Test("a directory that is not there is not opened, and nor is a file", arguments: TestNetwork.allCases)
    func open(network: TestNetwork) throws {
        try withRoot(network, leaving: ["file"]) { loop, directory in
            #expect(loop.code(of: Directory.open(directory.path + "/none", on: loop)) == .notFound)
            try loop.run(until: directory.replace("file", with: Data()))
            #expect(loop.code(of: Directory.open(directory.path + "/file", on: loop)) == .notDirectory)
        }
    }

    @Test(
        "a file that was made without a name can be linked until its first name is removed",
        arguments: TestNetwork.allCases)
    func link(network: TestNetwork) throws {
        try withRoot(network) { loop, directory in
            let file = try loop.run(until: directory.makeTemporaryFile())
            for name in ["a", "b"] { try loop.run(until: directory.link(file, as: name)) }
            for name in ["a", "b"] { try loop.run(until: directory.remove(name)) }
            #expect(loop.code(of: directory.link(file, as: "c")) == .notFound)
            try loop.run(until: file.close())
        }
    }

    @Test("a directory that was removed has no entries to tell", arguments: TestNetwork.allCases)
    func entries(network: TestNetwork) throws {
        try withRoot(network) { loop, directory in
            try loop.run(until: directory.makeDirectory("a"))
            let removed = try loop.run(until: directory.openDirectory("a"))
            try loop.run(until: directory.removeDirectory("a"))
            #expect(loop.code(of: removed.entries().makeAsyncIterator().pull()) == .notFound)
            #expect(loop.code(of: removed.makeDirectory("b")) == .notFound)
            try loop.run(until: removed.close())
        }
    }

    @Test(
        "a file that is open for one direction is not cut, or locked, as one for the other",
        arguments: TestNetwork.allCases)
    func directions(network: TestNetwork) throws {
        try withRoot(network, leaving: ["file"]) { loop, directory in
            try loop.run(until: directory.replace("file", with: Data("text".utf8)))
            let reader = try loop.run(until: directory.open("file"))
            let writer = try loop.run(until: directory.open("file", .writeOnly))
            #expect(loop.code(of: reader.truncate(to: 0)) == .invalidArgument)
            #expect(loop.code(of: reader.tryLock(.exclusive)) == .badDescriptor)
            #expect(loop.code(of: writer.tryLock(.shared)) == .badDescriptor)
            for file in [reader, writer] { try loop.run(until: file.close()) }
        }
    }

    @Test("no socket is made at the root", arguments: TestNetwork.allCases)
    func socket(network: TestNetwork) throws {
        try withDirectory(network) { _, loop in
            #expect(
                complaint { _ = try UnixListener(path: "/", on: loop) }
                    == "cannot listen at /: there is a file that is not a socket; remove it or give another path"
            )
        }
    }
}
