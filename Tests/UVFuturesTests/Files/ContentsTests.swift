import CHeap
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct ContentsTests {
    @Test("bytes are appended, to a new file too, and are on the disk if asked")
    func appends() throws {
        try withDirectory { loop, directory, path in
            try loop.run(until: directory.append(Data("one\n".utf8), to: "log"))
            try loop.run(until: directory.append(Data("two\n".utf8), to: "log", durably: true))
            #expect(contents(path + "/log") == "one\ntwo\n")
            try loop.run(until: directory.makeDirectory("sub"))
            try loop.run(until: directory.append(Data("three\n".utf8), to: "sub/log", durably: true))
            #expect(contents(path + "/sub/log") == "three\n")
            try loop.run(until: directory.sync())
        }
    }

    @Test("a full disk is told, with the bytes that were written, and the old contents stay", .asRoot)
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            // Its own view of what is mounted, which ends with this process. Threads that start later have it, too.
            let path = try makeEmptyDirectory()
            #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
            #expect(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
            #expect(unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0)
            try withLoop { loop in
                let disk = try loop.run(until: Directory.open(path, on: loop))
                try loop.run(until: disk.replace("a", with: Data("old".utf8)))
                let error = loop.failure(of: disk.replace("a", with: Data(count: 100_000))) as? FileError
                #expect(error?.code == .noSpace && (1...65_536).contains(error?.bytesWritten ?? 0))
                #expect(
                    "\(error!)".hasSuffix("(the disk is full, or has no more inodes; make room, and repeat)"))
                #expect(contents(path + "/a") == "old")
                #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["a"])
                let file = try loop.run(until: disk.open("b", .readWrite, creating: .always))
                #expect(loop.code(of: file.append(Data(count: 100_000))) == .noSpace)
                try loop.run(until: file.truncate(to: 0))
                try loop.run(until: file.append(Data(count: 10_000)))
                try loop.run(until: file.close())
                try loop.run(until: disk.close())
            }
            #expect(unsafe umount2(path, CInt(MNT_DETACH)) == 0)
            try FileManager.default.removeItem(atPath: path)
        }
    }
}
