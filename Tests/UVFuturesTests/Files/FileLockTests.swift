import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FileLockTests {
    @Test("locks exclude each other, and shared ones do not")
    func excludes() throws {
        try withFiles { loop, one, two in
            let shared = [try loop.run(until: one.lock(.shared)), try loop.run(until: two.lock(.shared))]
            for lock in shared { try loop.run(until: lock.release()) }
            let lock = try loop.run(until: one.lock(.exclusive))
            #expect(lock.mode == .exclusive)
            #expect(try loop.run(until: two.tryLock(.shared)) == nil)
            var hasLock = false
            let second = two.lock(.exclusive).tap { _ in hasLock = true }
            try loop.run(for: .milliseconds(20))
            #expect(!hasLock)
            try loop.run(until: lock.release())
            try loop.run(until: lock.release())
            try loop.run(until: try loop.run(until: second).release())
        }
    }

    @Test("one file has one lock, and a second one waits for it")
    func once() throws {
        try withFiles { loop, one, _ in
            let lock = try loop.run(until: one.lock(.shared))
            #expect(try loop.run(until: one.tryLock(.shared)) == nil)
            let second = one.lock(.exclusive)
            try loop.run(until: lock.release())
            try loop.run(until: try loop.run(until: second).release())
        }
    }

    @Test("a lock ends with its last reference, and by the end of its file")
    func ends() throws {
        try withFiles { loop, one, two in
            do { _ = try loop.run(until: one.lock(.exclusive)) }
            let lock = try loop.run(until: two.lock(.exclusive))
            try loop.run(until: two.close())
            let third = try loop.run(until: one.lock(.exclusive))
            // This lock is of a descriptor that is closed, and perhaps another file's by now.
            try loop.run(until: lock.release())
            #expect(try loop.run(until: one.tryLock(.exclusive)) == nil)
            try loop.run(until: third.release())
        }
    }

    @Test("a lock outlives the File that it was taken by")
    func outlivesFile() throws {
        try withFiles { loop, one, _ in
            let directory = try loop.run(until: Directory.open(NSTemporaryDirectory(), on: loop))
            let name = "lock-\(UUID().uuidString)"
            let locked = directory.open(name, .readWrite, creating: .always).flatMap { $0.lock(.exclusive) }
            let lock = try loop.run(until: locked)
            #expect(loop.statistics.files == 4)
            let other = try loop.run(until: directory.open(name, .readWrite))
            #expect(try loop.run(until: other.tryLock(.exclusive)) == nil)
            try loop.run(until: lock.release())
            try loop.run(until: try loop.run(until: other.lock(.exclusive)).release())
            try loop.run(until: directory.remove(name))
            try loop.run(until: other.close().and(directory.close()).map { _ in })
        }
    }

    @Test("who gives up waiting gets no lock, whenever that is")
    func cancelled() throws {
        try withFiles { loop, one, two in
            for round in 0..<50 {
                let waiting = two.lock(.exclusive)
                if round % 2 == 1 { try loop.run(until: loop.sleep(for: .microseconds(50 * round))) }
                if !waiting.cancel() { try loop.run(until: try loop.run(until: waiting).release()) }
                try loop.run(until: try loop.run(until: one.lock(.exclusive)).release())
            }
            // What was taken for nobody has been given back.
            try loop.run(until: try loop.run(until: two.lock(.exclusive)).release())
        }
    }

    @Test("a file that is not open for writing gets no exclusive lock")
    func access() throws {
        try withDirectory { loop, directory, path in
            try put("x", path + "/a")
            let file = try loop.run(until: directory.open("a"))
            #expect(loop.code(of: file.lock(.exclusive)) == .badDescriptor)
            try loop.run(until: try loop.run(until: file.lock(.shared)).release())
            try loop.run(until: file.close())
        }
    }

    private func withFiles(_ body: (EventLoop, File, File) throws -> Void) throws {
        try withDirectory { loop, directory, _ in
            let files = try (0..<2).map { _ in
                try loop.run(until: directory.open("a", .readWrite, creating: .ifMissing))
            }
            try body(loop, files[0], files[1])
            for file in files { try loop.run(until: file.close()) }
        }
    }
}
