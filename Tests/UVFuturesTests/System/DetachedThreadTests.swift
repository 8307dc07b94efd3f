import CFuturesSystem
import CHeap
import Dispatch
import Futures
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct DetachedThreadTests {
    @Test("a thread of the library has a name, and takes no signals but those of faults")
    func signals() {
        let before = blocked()
        let seen = Locked<(Set<CInt>, String)?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let failure = startThreadWithoutSignals(name: "a name") {
            seen.withLock { $0 = (blocked(), contents("/proc/thread-self/comm") ?? "") }
            ended.signal()
        }
        ended.wait()
        #expect(failure == nil && blocked() == before)
        let (mask, name) = seen.withLock { $0! }
        #expect(name == "a name\n")
        #expect(mask.isSuperset(of: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE, SIGWINCH]))
        #expect(mask.isDisjoint(with: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]))
    }

    @Test(
        "a thread that cannot be started lets go of what it was to do",
        .disabled(if: isSanitized, "A sanitizer starts one when the process ends, to look for leaks."))
    func refused() async {
        await #expect(processExitsWith: .success) {
            // Of newer and of older systems.
            for call in [SYS_clone3, SYS_clone] { try #require(make_call_fail(call, EAGAIN, 0) == 0) }
            let group = DispatchGroup()
            weak var kept: Counter?
            do {
                let counter = Counter()
                kept = counter
                #expect(startThread(name: "none", in: group) { counter.add(1) } == .wouldBlock)
            }
            #expect(kept == nil && group.wait(timeout: .now()) == .success)
        }
    }

    @Test(
        "threads that have ended leave no stack behind",
        // A sanitizer keeps a record of each.
        .enabled(if: !isSanitized))
    func stacks() async {
        await #expect(processExitsWith: .success) {
            func run(_ count: Int) {
                for _ in 0..<count {
                    let group = DispatchGroup()
                    #expect(startThread(name: "short", in: group) {} == nil)
                    group.wait()
                }
            }
            // Some are kept for the next threads.
            run(20)
            let before = mappedPages()
            run(200)
            #expect(mappedPages() - before < 100_000)
        }
    }
}

private func blocked() -> Set<CInt> {
    var mask = sigset_t()
    unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
    return Set((1...31).filter { unsafe sigismember(&mask, $0) == 1 })
}

/// How much of its address space the process has in use.
private func mappedPages() -> Int {
    contents("/proc/self/statm")!.split(separator: " ").first.flatMap { Int($0) }!
}
