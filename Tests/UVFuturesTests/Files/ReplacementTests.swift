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

struct ReplacementTests {
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

    @Test(
        "a link is replaced, and its file stays; a directory is not replaced, and no temporary file is left")
    func replacesLink() throws {
        try withDirectory { loop, directory, path in
            try put("kept", path + "/a")
            #expect(unsafe chmod(path + "/a", 0o600) == 0)
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "a")
            try loop.run(until: directory.makeDirectory("sub"))
            try loop.run(until: directory.replace("link", with: Data("new".utf8)))
            #expect(contents(path + "/a") == "kept" && contents(path + "/link") == "new")
            // The permissions are those of any new file.
            try loop.run(until: directory.replace("file", with: Data()))
            #expect(
                try loop.run(until: directory.information(of: "link")).permissions
                    == loop.run(until: directory.information(of: "file")).permissions)
            try loop.run(until: directory.remove("file"))
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
}
