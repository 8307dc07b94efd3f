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

struct EntriesTests {
    @Test("all entries come once, with their kinds, in several portions")
    func entries() throws {
        try withDirectory { loop, directory, path in
            #expect(try loop.all(directory.entries()).isEmpty)
            for number in 0..<1500 { try put("", "\(path)/a file with a long name, number \(number)") }
            try FileManager.default.createDirectory(atPath: path + "/sub", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "sub")
            let sequence = directory.entries()
            for _ in 0..<2 {
                let entries = try loop.all(sequence)
                #expect(Set(entries.map(\.name)).count == 1502 && entries.count == 1502)
                #expect(entries.first { $0.name == "sub" }?.kind == .directory)
                #expect(entries.first { $0.name == "link" }?.kind == .symbolicLink)
                #expect(entries.count { $0.kind == .regularFile } == 1500)
            }
            #expect(try loop.all(directory.entries(of: "link")).isEmpty)
            #expect(throws: FileError.self) { try loop.all(directory.entries(of: "missing")) }
        }
    }
}
