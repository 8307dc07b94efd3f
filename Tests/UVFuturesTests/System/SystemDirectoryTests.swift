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

struct SystemDirectoryTests {
    @Test("a FIFO, a socket and a device make no thread wait, and are refused")
    func onlyRegularFiles() throws {
        try withDirectory { (loop, directory, path) throws in
            #expect(unsafe mkfifo(path + "/fifo", 0o600) == 0)
            let isRoot = geteuid() == 0
            if isRoot { #expect(unsafe mknod(path + "/zero", S_IFCHR | 0o600, 0x105) == 0) }
            let listener = try UnixListener(path: path + "/socket", on: loop)
            for access in [File.Access.readOnly, .readWrite, .writeOnly] {
                #expect(loop.code(of: directory.open("fifo", access)) == .notSupported)
                #expect(loop.code(of: directory.open("socket", access)) == .notSupported)
                guard isRoot else { continue }
                #expect(
                    loop.code(of: directory.open("zero", access, truncating: access == .readWrite))
                        == .notSupported)
            }
            try loop.run(until: listener.close())
            #expect(loop.code(of: directory.append(Data("x".utf8), to: "fifo")) == .notSupported)
            #expect(loop.code(of: directory.contents(of: "fifo")) == .notSupported)
            #expect(loop.code(of: directory.open(".")) == .isDirectory)
            #expect(try loop.run(until: directory.information(of: "fifo")).kind == .fifo)
            #expect(
                "\(loop.failure(of: directory.open("fifo"))!)"
                    == "open fifo below \(path): openat2 ENOTSUP: operation not supported on socket (it is a FIFO, a "
                    + "socket or a device, and only regular files are opened)")
        }
    }

    @Test("a magic link of /proc is not followed, not even below it")
    func magicLinks() throws {
        try withLoop { loop in
            let directory = try loop.run(until: Directory.open("/proc/self", on: loop))
            for path in ["root/etc/passwd", "cwd", "fd/0", "exe"] {
                let code = loop.code(of: directory.information(of: path))
                #expect(code == .tooManyLinks || code == .crossesDirectory)
            }
            #expect(
                "\(loop.failure(of: directory.information(of: "root/etc"))!)".contains(
                    "a symbolic link in the path leads in a circle, or leads out of the directory by a "
                        + "magic link of /proc"))
            try loop.run(until: directory.close())
        }
    }

    @Test("a thread that swaps a directory for a link all the time leads nobody out")
    func swapped() throws {
        try withDirectory { loop, directory, path in
            let outside = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: outside) }
            for name in ["a", "b"] { try put("outside", "\(outside)/\(name)") }
            try FileManager.default.createDirectory(atPath: path + "/way", withIntermediateDirectories: false)
            for name in ["a", "b"] { try put("inside", "\(path)/way/\(name)") }
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: outside)
            let (isOver, swaps, group) = (Counter(), Counter(), DispatchGroup())
            startThread(of: group) {
                while isOver.value == 0 {
                    // Both names change at once: what was a directory is a link.
                    _ = unsafe rename_with_flags(AT_FDCWD, path + "/way", AT_FDCWD, path + "/link", 2)
                    swaps.add(1)
                }
            }
            let end = loop.now.advanced(by: isSoaking ? .seconds(10) : .seconds(1))
            var (reads, refusals) = (0, 0)
            while loop.now < end {
                let operations = (0..<16).map { number in
                    number % 4 == 0
                        ? directory.append(Data("!".utf8), to: "way/a").map { "inside" }
                        : directory.contents(of: "way/b").map { $0.text }
                }
                for operation in operations {
                    switch loop.outcome(of: operation) {
                    case .success(let text):
                        #expect(text == "inside")
                        reads += 1
                    case .failure(let error as FileError):
                        #expect(error.code == .crossesDirectory || error.code == .wouldBlock)
                        refusals += 1
                    case .failure(let error): Issue.record("\(error)")
                    }
                }
            }
            isOver.value = 1
            group.wait()
            #expect(contents(outside + "/a") == "outside")
            #expect(reads > 0 && refusals > 0 && swaps.value > 0)
        }
    }

    @Test("what is renamed to elsewhere at the moment of its opening is there or not, and leads nobody out")
    func renamedAway() throws {
        let (inside, outside) = (TemporaryDirectory(), TemporaryDirectory())
        inside.makeDirectory("x")
        let (name, elsewhere) = (inside.url("x"), outside.url("x"))
        let (isOver, group) = (Counter(), DispatchGroup())
        startThread(of: group) {
            while isOver.value == 0 {
                _ = unsafe rename(name, elsewhere)
                _ = unsafe rename(elsewhere, name)
            }
        }
        let directory = try SystemFiles().openDirectory(at: inside.path)
        var found: [SystemError.Code?: Int] = [:]
        for _ in 0..<largeCount * 2 {
            do throws(SystemError) {
                _ = try directory.openDirectory(RelativePath(checked: "x"), followsLink: false)
                found[nil, default: 0] += 1
            } catch { found[error.code, default: 0] += 1 }
        }
        isOver.value = 1
        group.wait()
        #expect(found[nil] ?? 0 > 0)
        #expect(Set(found.keys).isSubset(of: [nil, .notFound]), "\(found)")
    }
}
