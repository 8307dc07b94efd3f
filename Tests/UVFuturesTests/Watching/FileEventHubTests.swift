import CFuturesSystem
import CLibUV
import Foundation
import Futures
import Glibc
import TestSupport
import Testing
import UVFutures

struct FileEventHubTests {
    @Test(
        "a lack of the system's watches is an error that names the sysctl, and ends a tree that grows",
        .disabled(
            if: isThreadSanitized,
            "that sanitizer has a thread, so the process cannot have a namespace of its own"))
    func noWatches() async {
        await #expect(processExitsWith: .success) {
            // The limit is that of a namespace of its own, which a process of one thread can have.
            let child = forked()
            if child == 0 { _exit(meetsLimit() ? 0 : 1) }
            var status: CInt = 0
            #expect(unsafe waitpid(child, &status, 0) == child)
            #expect(status == 0)
        }
    }

    @Test("a lack of descriptors is an error that names the limits, and later watches work")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                var limit = rlimit()
                _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let most = limit.rlim_cur
                // Then no new descriptor is possible, whatever other threads of the process close.
                limit.rlim_cur = 0
                _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let error = loop.failure(of: FileWatch.watch(file: directory.url("x"), on: loop))
                #expect(
                    error as? FileWatchError
                        == .refused(
                            path: directory.url("x"), operation: "inotify_init1", code: .tooManyOpenFiles))
                limit.rlim_cur = most
                _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let watch = try loop.run(until: FileWatch.watch(file: directory.url("x"), on: loop))
                try loop.run(until: watch.close())
            }
        }
    }

    @Test("a watch that fails to start gives the system's watches back, also beside another watch")
    func failedStart() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let (directory, other) = (TemporaryDirectory(), TemporaryDirectory())
                for name in ["a", "b", "c"] { directory.makeDirectory(name) }
                let watch = try loop.run(until: FileWatch.watch(directory: other.path, on: loop))
                let before = watchesOfTheSystem()
                // The directory, the one above, and that one as a part of the way: `/tmp` and a directory in it.
                #expect(before == 2)
                var limits = FileWatchLimits()
                limits.maxDirectories = 3
                let tree = FileWatch.watch(tree: directory.path, limits: limits, on: loop)
                #expect(
                    loop.failure(of: tree) as? FileWatchError
                        == .tooManyDirectories(path: directory.path, limit: 3))
                #expect(watchesOfTheSystem() == before)
                // So does one that is closed, of those that no other one uses.
                let whole = try loop.run(until: FileWatch.watch(tree: directory.path, on: loop))
                let part = try loop.run(until: FileWatch.watch(tree: directory.url("a"), on: loop))
                let file = try loop.run(until: FileWatch.watch(file: directory.url("a/x"), on: loop))
                let all = watchesOfTheSystem()
                try loop.run(until: file.close())
                try loop.run(until: part.close())
                #expect(watchesOfTheSystem() == all)
                #expect(unsafe rename(directory.url("b"), other.url("b")) == 0)
                try loop.runUntil { whole.directoryCount == 3 }
                #expect(watchesOfTheSystem() == all - 1)
                try loop.run(until: whole.close())
                #expect(watchesOfTheSystem() == before)
                try loop.run(until: watch.close())
            }
        }
    }

    @Test("a watch that a closure closes among the changes of new directories gives their watches back")
    func closedAmongChanges() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let (directory, other) = (TemporaryDirectory(), TemporaryDirectory())
                for name in ["made", "made/a", "made/b"] { other.makeDirectory(name) }
                let kept = try loop.run(until: FileWatch.watch(directory: other.path, on: loop))
                let before = watchesOfTheSystem()
                let tree = FileWatch.watch(tree: directory.path, debounce: .zero, on: loop)
                let watch = try loop.run(until: tree)
                watch.onChange { if $0.path == "new/a" { watch.close() } }
                #expect(unsafe rename(other.url("made"), directory.url("new")) == 0)
                try loop.runUntil { !watch.isOpen }
                #expect(watchesOfTheSystem() == before)
                try loop.run(until: kept.close())
            }
        }
    }

    @Test("a watch of the system that is shared ends with the last watch that uses it")
    func sharing() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let watches = try (0..<3).map { index in
                try loop.run(until: FileWatch.watch(file: directory.url("\(index)"), on: loop))
            }
            try loop.run(until: watches[0].close())
            for index in 0..<3 { directory.write("\(index)") }
            #expect(try loop.run(until: watches[1].next()).path == "1")
            #expect(try loop.run(until: watches[2].next()).path == "2")
            try loop.run(until: watches[1].close())
            directory.remove("2")
            #expect(try loop.run(until: watches[2].next()).kind == .removed)
            try loop.run(until: watches[2].close())
        }
    }
}

/// The number of watches of all inotify instances of this process.
private func watchesOfTheSystem() -> Int {
    let folder = "/proc/self/fdinfo"
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let texts = numbers.compactMap { contents("\(folder)/\($0)") }
    return texts.reduce(0) { $0 + $1.split(separator: "\n").count { $0.hasPrefix("inotify wd:") } }
}

/// Whether watches meet a limit of four as they should. Run in a process of one thread, which it changes.
private func meetsLimit() -> Bool {
    typealias Unshare = @convention(c) (CInt) -> CInt
    let newUserNamespace: CInt = 0x1000_0000
    guard let symbol = unsafe dlsym(nil, "unshare"),
        unsafe unsafeBitCast(symbol, to: Unshare.self)(newUserNamespace) == 0
    else { return false }
    // Not fs.inotify.max_user_watches, which has one value for all namespaces.
    let limit = unsafe open("/proc/sys/user/max_inotify_watches", O_WRONLY)
    guard limit >= 0, unsafe write(limit, "4", 1) == 1 else { return false }
    close(limit)
    let directory = TemporaryDirectory()
    for name in ["a", "a/b", "c"] { directory.makeDirectory(name) }
    do {
        let loop = try EventLoop()
        let refusal = FileWatchError.refused(
            path: directory.path, operation: "inotify_add_watch", code: SystemError.Code(rawValue: -ENOSPC))
        let all = loop.failure(of: FileWatch.watch(tree: directory.path, on: loop))
        let part = try loop.run(until: FileWatch.watch(tree: directory.url("a"), on: loop))
        let next = part.next()
        directory.makeDirectory("a/d")
        directory.makeDirectory("a/e")
        try loop.runUntil { !part.isOpen }
        _ = loop.outcome(of: next)
        let closed = part.closed.result
        loop.shutdown()
        guard case .failure(FileWatchError.refused(directory.url("a"), "inotify_add_watch", _))? = closed
        else { return false }
        return all as? FileWatchError == refusal
    } catch {
        return false
    }
}
