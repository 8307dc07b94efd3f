internal import CFuturesSystem
package import Dispatch
internal import Glibc

/// Starts `body` on a detached thread called `name`. The thread gets no signals except those of its own
/// faults. Returns the reason if the thread cannot start, or else `nil`.
package func startThreadWithoutSignals(name: String, _ body: @escaping @Sendable () -> Void) -> SystemError
    .Code?
{
    var (all, before) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&all, fault) }
    // A thread begins with the mask of the thread that starts it.
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    return startThread(name: name, in: DispatchGroup(), body)
}

/// Starts `body` on a detached thread called `name`. The thread counts in `group` until it has run `body` and
/// released everything that `body` refers to. Returns the reason if the thread cannot start, or else `nil`.
package func startThread(
    name: String, in group: DispatchGroup, _ body: @escaping @Sendable () -> Void
) -> SystemError.Code? {
    let reference = unsafe Unmanaged.passRetained(DetachedThread(name: name, group: group, body: body))
    group.enter()
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, nil,
        { thread in
            run(unsafe Unmanaged<DetachedThread>.fromOpaque(thread!).takeRetainedValue()).leave()
            return nil
        }, reference.toOpaque())
    guard status == 0 else {
        unsafe reference.release()
        group.leave()
        return SystemError.Code(rawValue: -status)
    }
    pthread_detach(thread)
    return nil
}

/// Runs the body of `thread`, and releases `thread` before it returns.
private func run(_ thread: consuming DetachedThread) -> DispatchGroup {
    unsafe set_thread_name(thread.name)
    thread.body()
    return thread.group
}

private final class DetachedThread: Sendable {
    let name: String
    let group: DispatchGroup
    let body: @Sendable () -> Void

    init(name: String, group: DispatchGroup, body: @escaping @Sendable () -> Void) {
        (self.name, self.group, self.body) = (name, group, body)
    }
}
