import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import UVFutures

/// What the handler of a host has seen. A handler takes no lock.
private let reaped = Atomic(0)
private let ownStatuses = Atomic(0)

/// Beside a host that has children of its own, and waits for any child.
struct UVProcessTests {
    private static let count = isSoaking ? 10_000 : 300

    /// Whether the kernel keeps the status of a process that was reaped: since 6.15.
    private static var kernelKeepsStatus: Bool {
        var name = utsname()
        unsafe uname(&name)
        let release = unsafe withUnsafeBytes(of: &name.release) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers[0] > 6 || numbers[0] == 6 && numbers[1] >= 15
    }

    @Test(
        "each future has its right code beside a host that reaps any child, and the host loses none of its own",
        arguments: ["a handler that reaps", "no handler", "ignored"])
    func host(way: String) async {
        await #expect(processExitsWith: .success) { [way] in
            let (count, keepsStatus) = (Self.count, Self.kernelKeepsStatus)
            if way == "a handler that reaps" {
                signal(SIGCHLD) { _ in
                    let before = errno
                    var status: CInt = 0
                    while unsafe waitpid(-1, &status, WNOHANG) > 0 {
                        reaped.add(1, ordering: .relaxed)
                        if status >> 8 & 0xff == 77 { ownStatuses.add(1, ordering: .relaxed) }
                    }
                    errno = before
                }
            } else if way == "ignored" {
                signal(SIGCHLD, SIG_IGN)
            }
            var own = 0
            try withLoop { loop throws in
                let before = descriptorsInUse()
                var completions = Array(repeating: 0, count: count)
                var taken = 0
                let all = loop.forEach(0..<count, maxConcurrent: 20) { index -> Future<Void> in
                    if index.isMultiple(of: 10) {
                        own += 1
                        if forked() == 0 { _exit(77) }
                    }
                    return try ChildProcess.start(shell("exit \(index % 70)"), on: loop).exit.map { exit in
                        completions[index] += 1
                        if exit == .statusTakenByOther, way != "no handler", !keepsStatus {
                            taken += 1
                        } else {
                            #expect(exit == .code(Int32(index % 70)))
                        }
                    }
                }
                try loop.run(until: all)
                #expect(completions.allSatisfy { $0 == 1 })
                #expect(way == "no handler" ? taken == 0 : taken == 0 || !keepsStatus)
                try loop.run()
                expectNoMore(than: before)
            }
            if way == "no handler" {
                for _ in 0..<own {
                    var status: CInt = 0
                    #expect(unsafe waitpid(-1, &status, 0) > 0 && status >> 8 == 77)
                }
            } else if way != "ignored" {
                #expect(eventually { ownStatuses.load(ordering: .relaxed) == own })
            }
            #expect(eventually(hasNoChild))
        }
    }

    @Test("a program that somebody kills before it runs is found like any other")
    func killedEarly() async {
        await #expect(processExitsWith: .success) {
            let isOver = Atomic(false)
            let killer = DispatchGroup()
            DispatchQueue.global().async(group: killer) {
                while !isOver.load(ordering: .relaxed) {
                    let tasks =
                        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                    for task in tasks {
                        let list = contents("/proc/self/task/\(task)/children") ?? ""
                        for word in list.split(separator: " ") {
                            if let number = Int32(word) { kill(number, SIGKILL) }
                        }
                    }
                }
            }
            try withLoop { loop throws in
                var exits: [ChildProcess.Exit] = []
                for _ in 0..<200 {
                    exits.append(try loop.exit(of: .init("/bin/sleep", "1000")))
                }
                #expect(exits.allSatisfy { $0 == .signal(.kill, coreDumped: false) })
            }
            isOver.store(true, ordering: .relaxed)
            killer.wait()
            #expect(hasNoChild())
        }
    }

    @Test("a program that cannot be started is nothing that a host hears of or could reap")
    func failures() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD) { _ in reaped.add(1, ordering: .relaxed) }
            try withLoop { loop throws in
                let before = descriptorsInUse()
                for _ in 0..<50 {
                    #expect(throws: ProcessError.self) {
                        try ChildProcess.start(.init("/nowhere/program"), on: loop)
                    }
                }
                expectNoMore(than: before)
            }
            #expect(reaped.load(ordering: .relaxed) == 0)
            #expect(hasNoChild())
        }
    }
}
