internal import CLibUV
internal import Glibc

/// Starts `body` on a detached thread called `name`. The thread gets no signals except those of its own faults. Returns
/// the reason if it cannot start, or `nil`.
func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> UVError.Code? {
    var (all, before) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&all, fault) }
    // A thread begins with the mask of the one that starts it.
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let reference = unsafe Unmanaged.passRetained(DetachedThread(name: name, body))
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, nil,
        { thread in
            unsafe Unmanaged<DetachedThread>.fromOpaque(thread!).takeRetainedValue().run()
            return nil
        }, reference.toOpaque())
    guard status == 0 else {
        unsafe reference.release()
        return UVError.Code(rawValue: -status)
    }
    pthread_detach(thread)
    return nil
}

private final class DetachedThread: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        unsafe set_thread_name(name)
        body()
    }
}
