import CFuturesSystem
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FileArgumentsTests {
    @Test("arguments that make no sense are refused with a sentence")
    func arguments() throws {
        try withFile { loop, file, _ in
            func expect<Value>(_ future: Future<Value>, _ text: String) {
                #expect(loop.failure(of: future).map { "\($0)" } == text)
            }
            expect(file.read(atMost: 0, at: 0), "a read of 0 bytes is out of range; give 1 to 1073741824")
            expect(file.read(atMost: 1, at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.write(Data(), at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.truncate(to: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.readAll(limit: -1), "a limit of -1 bytes is negative; give zero or more")
            expect(
                file.setPermissions(to: 0o10000), "permissions must be from 0o000 to 0o7777, not 0o10000"
            )
        }
    }

    @Test("positions, sizes and permissions of files are in their range", arguments: TestNetwork.allCases)
    func files(network: TestNetwork) throws {
        try withDirectory { path in
            let loop = try network.makeLoop()
            loop.onUnhandledFailure = { _ in }
            defer { loop.shutdown() }
            let root = network == .system ? path : "/"
            let directory = try loop.run(until: Directory.open(root, on: loop))
            let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
            let large = try loop.run(until: directory.open("large", .readWrite, creating: .always))
            let stream = try MemoryStream.pair(on: loop).0
            expectRefused("read", outside: 1...(1 << 30)) { file.read(atMost: $0, at: 0) }
            expectRefused("read at", outside: 0...) { file.read(atMost: 1, at: $0) }
            expectRefused("readAll", outside: 0...) { file.readAll(limit: $0) }
            expectRefused("write at", outside: 0...) { large.write(Data([1, 2]), at: $0) }
            expectRefused("truncate", outside: 0...) { large.truncate(to: $0) }
            expectRefused("copy from", outside: 0...) { file.copy(to: stream, from: $0) }
            expectRefused("copy of", outside: 0...) { file.copy(to: stream, count: $0) }
            expectRefused("stream from", outside: 0...) { try file.stream(from: $0).abort() }
            expectRefused("stream writing at", outside: 0...) { position in
                let stream = try large.stream(writingAt: position)
                _ = stream.write([1, 2]).ignoreFailure()
                return stream.close()
            }
            expectRefused("contents", outside: 0...) { directory.contents(of: "a", limit: $0) }
            func ended<Value>(_ future: Future<Value>) -> Future<Value> {
                _ = loop.outcome(of: future)
                return future
            }
            expectRefused("maxDepth of walk", outside: 0...) { ended(directory.walk(maxDepth: $0).first()) }
            expectRefused("maxEntries", outside: 0...) { ended(directory.walk(maxEntries: $0).first()) }
            expectRefused("maxDepth of removeTree", outside: 0...) {
                ended(directory.removeTree("none", maxDepth: $0))
            }
            let modes: ClosedRange<UInt32> = 0...0o7777
            expectRefused("permissions", outside: modes) { file.setPermissions(to: $0) }
            expectRefused("permissions by name", outside: modes) {
                directory.setPermissions(of: "a", to: $0)
            }
            expectRefused("open", outside: modes) { directory.open("b", permissions: $0) }
            expectRefused("makeDirectory", outside: modes) { directory.makeDirectory("c", permissions: $0) }
            expectRefused("makeTemporaryFile", outside: modes) {
                directory.makeTemporaryFile(permissions: $0)
            }
            expectRefused("replace", outside: modes) {
                directory.replace("d", with: Data(), permissions: $0)
            }
            expectRefused("UnixListener", outside: 0...UInt32(0o777)) {
                try UnixListener(path: "\(path)/\($0)", options: ListenOptions(permissions: $0), on: loop)
                    .close()
            }
            // The system refuses what no file can hold.
            #expect(loop.failure(of: large.write(Data([1, 2]), at: .max - 1)) is FileError)
            #expect(loop.failure(of: large.truncate(to: 0)) == nil)
            for file in [file, large] { try loop.run(until: file.close()) }
        }
    }
}
