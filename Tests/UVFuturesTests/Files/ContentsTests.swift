import CHeap
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct ContentsTests {
    @Test("the contents of a file are replaced as a whole, with its permissions")
    func replaces() throws {
        try withDirectory { loop, directory, path in
            try loop.run(until: directory.replace("a", with: Data("old".utf8), permissions: 0o640))
            #expect(contents(path + "/a") == "old")
            let reader = try loop.run(until: directory.open("a"))
            try loop.run(until: directory.replace("a", with: Data("new".utf8)))
            #expect(contents(path + "/a") == "new")
            #expect(try loop.run(until: directory.information(of: "a")).permissions == 0o640)
            #expect(try loop.run(until: reader.readAll()).text == "old")
            try loop.run(until: directory.replace("a", with: Data(), durably: false, permissions: 0o600))
            #expect(try loop.run(until: directory.information(of: "a")).permissions == 0o600)
            try loop.run(until: reader.close())
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["a"])
        }
    }

    @Test("a link is replaced, and its file stays; a directory is not replaced, and no temporary file is left")
    func replacesLink() throws {
        try withDirectory { loop, directory, path in
            try put("kept", path + "/a")
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "a")
            try loop.run(until: directory.makeDirectory("sub"))
            try loop.run(until: directory.replace("link", with: Data("new".utf8)))
            #expect(contents(path + "/a") == "kept" && contents(path + "/link") == "new")
            #expect(
                "\(loop.failure(of: directory.replace("sub", with: Data()))!)"
                    == "replace sub below \(path): rename EISDIR: illegal operation on a directory")
            try loop.run(until: directory.replace("sub/b", with: Data("b".utf8)))
            #expect(
                try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
                    == ["a", "link", "sub", "sub/b"])
        }
    }

    @Test("readers see the old contents or the new ones, while a file is replaced again and again")
    func atomic() throws {
        try withDirectory { loop, directory, path in
            let versions = (0..<50).map { String(repeating: "\($0) ", count: 20_000) }
            try put(versions[0], path + "/a")
            let known = Set(versions)
            var readings: [Future<Data>] = []
            for version in versions {
                let replaced = directory.replace("a", with: Data(version.utf8), durably: false)
                readings.append(directory.contents(of: "a"))
                readings.append(directory.contents(of: "a"))
                try loop.run(until: replaced)
            }
            for reading in readings { #expect(known.contains(try loop.run(until: reading).text)) }
        }
    }

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

    @Test("a full disk is told, with the bytes that were written, and the old contents stay")
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
                #expect("\(error!)".hasSuffix("(the disk is full, or has no more inodes; make room, and repeat)"))
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
