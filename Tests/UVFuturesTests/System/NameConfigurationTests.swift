import Foundation
import Glibc
import Testing
import UVFutures

struct NameConfigurationTests {
    @Test("both files are read, and again only when one of them has changed")
    func changes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("names-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let conf = folder.appendingPathComponent("resolv.conf")
        let hosts = folder.appendingPathComponent("hosts")
        let files = NameFiles(resolvConf: conf.path, hosts: hosts.path)

        let empty = try #require(files.read(unless: nil))
        #expect(empty.resolvConf.isEmpty && empty.hosts.isEmpty)
        #expect(files.read(unless: empty.stamp) == nil)

        try Data("nameserver ::1\n".utf8).write(to: conf)
        let first = try #require(files.read(unless: empty.stamp))
        #expect(first.resolvConf == Array("nameserver ::1\n".utf8) && first.hosts.isEmpty)
        #expect(files.read(unless: first.stamp) == nil)

        let large = Data(repeating: UInt8(ascii: "#"), count: 200_000)
        try large.write(to: hosts)
        let second = try #require(files.read(unless: first.stamp))
        #expect(second.hosts == Array(large) && second.resolvConf == first.resolvConf)

        // A new file of the same size, as programs write it that replace the file.
        try Data("nameserver ::2\n".utf8).write(to: conf, options: .atomic)
        let third = try #require(files.read(unless: second.stamp))
        #expect(third.resolvConf == Array("nameserver ::2\n".utf8))

        try FileManager.default.removeItem(at: conf)
        #expect(files.read(unless: third.stamp)?.resolvConf.isEmpty == true)
    }

    @Test("of a file that is too long, the first 16 MiB are read")
    func tooLong() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("hosts-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data("#".utf8)))
        #expect(unsafe truncate(path, 17 << 20) == 0)
        let read = NameFiles(resolvConf: path, hosts: path).read(unless: nil)
        #expect(read?.hosts.count == 16 << 20 && read?.resolvConf.first == UInt8(ascii: "#"))
    }

    @Test("the files are read where standard input is closed, too")
    func withoutInput() async {
        await #expect(processExitsWith: .success) {
            close(0)
            let read = NameFiles(resolvConf: "/proc/self/comm", hosts: "/proc/self/stat").read(unless: nil)
            #expect(read?.resolvConf.isEmpty == false && read?.hosts.isEmpty == false)
        }
    }

    @Test("a folder in the place of a file is no file, and nothing else happens")
    func folder() {
        let files = NameFiles(resolvConf: "/", hosts: "/proc/self/nothing")
        #expect(files.read(unless: nil)?.resolvConf.isEmpty == true)
    }
}
