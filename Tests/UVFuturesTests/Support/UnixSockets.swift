import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

/// A suite of sockets of the UNIX domain.
protocol UsesUnixSockets {}

extension UsesUnixSockets {
    /// A directory for sockets, in which nothing may be left but what the test says.
    func withDirectory(
        _ network: TestNetwork = .system, leaving left: [String] = [],
        _ body: (String, EventLoop) throws -> Void
    ) throws {
        var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try withLoop(network) { loop in
            if network == .virtual { loop.simulatedDisk.makeDirectory(directory) }
            try body(directory, loop)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(names.sorted() == left.sorted())
        try FileManager.default.removeItem(atPath: directory)
    }

    func echo(_ connection: UnixConnection) -> Future<Int> { connection.pipe(to: connection) }

    func answer(_ text: String, at path: String, _ loop: EventLoop) throws -> String {
        let connection = try loop.run(until: UnixConnection.connect(path: path, on: loop))
        connection.write(text)
        connection.shutdownWrite()
        let answer = try loop.run(until: connection.readToEnd())
        try loop.run(until: connection.close())
        return String(decoding: answer, as: UTF8.self)
    }

    func end(_ server: UnixServer, _ loop: EventLoop) throws {
        #expect(try loop.run(until: server.shutdown(within: .seconds(5))).aborted == 0)
    }

    /// A file as a process leaves it that ended without a word.
    func leaveSocket(at path: String) throws {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        try bindSocket(descriptor, path)
    }

    func bindSocket(_ descriptor: CInt, _ path: String) throws {
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
}
