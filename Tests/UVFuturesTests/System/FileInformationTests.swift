import CFuturesSystem
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct FileInformationTests {
    @Test("a file is described as the system sees it")
    func information() throws {
        try withDirectory { loop, directory, path in
            let before = Date(timeIntervalSinceNow: -10)
            try put(String(repeating: "x", count: 5000), path + "/a")
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "a")
            let file = try loop.run(until: directory.information(of: "a"))
            var status = stat()
            #expect(unsafe stat(path + "/a", &status) == 0)
            #expect(file.kind == .regularFile && file.size == 5000 && file.allocatedSize >= 4096)
            #expect(file.allocatedSize == Int(status.st_blocks) * 512)
            #expect(file.inode == UInt64(status.st_ino) && file.device == UInt64(status.st_dev))
            #expect(file.owner == geteuid() && file.group == getegid() && file.linkCount == 1)
            for date in [file.accessed, file.modified, file.changed] {
                #expect(before < date && date < Date(timeIntervalSinceNow: 10))
            }
            #expect(try loop.run(until: directory.information(of: "link")) == file)
            let own = try loop.run(until: directory.information(of: "."))
            #expect(own.kind == .directory && own.inode != file.inode)
            let devices = try loop.run(until: Directory.open("/dev", on: loop))
            #expect(try loop.run(until: devices.information(of: "null")).kind == .characterDevice)
            try loop.run(until: devices.close())
        }
    }

    @Test("each kind of file has its bits in the mode, and a mode without them does not say")
    func kinds() {
        let kinds: [(mode_t, FileKind)] = [
            (S_IFREG, .regularFile), (S_IFDIR, .directory), (S_IFLNK, .symbolicLink), (S_IFIFO, .fifo),
            (S_IFSOCK, .socket), (S_IFCHR, .characterDevice), (S_IFBLK, .blockDevice), (0, .unknown),
        ]
        for (bits, kind) in kinds { #expect(FileKind(mode: bits | 0o7777) == kind) }
    }

    @Test("entries of the same name are equal if the files are of the same kind")
    func entries() {
        func entry(_ name: String, _ kind: FileKind) -> DirectoryEntry {
            DirectoryEntry(RelativePath(checked: name), kind, inode: 1)
        }
        #expect(entry("a", .fifo) == entry("a", .fifo))
        #expect(entry("a", .fifo) != entry("a", .socket))
        #expect(entry("a", .fifo) != entry("b", .fifo))
    }
}
