internal import CLibUV
internal import Futures
internal import Glibc

/// A child process, watched by a descriptor of it. No signal tells of its end: a host may handle SIGCHLD as it likes.
final class UVProcess: UVHandle, ProcessHandle {
    let id: Int32
    private let descriptor: CInt
    private let program: String
    private let endsWithLoop, leadsGroup: Bool
    private weak var terminal: UVPipe?
    /// Whether the process runs on while its loop is shut down.
    private var isLeft = false
    var killsGroupAtEnd = false
    var onEnd: (CInt?) -> Void = { _ in }
    var onAbort: () -> Void = {}

    /// Creates a handle that takes over the descriptor of `process`. If this throws, the caller keeps the descriptor.
    init(
        _ driver: UVLoop, _ launch: ProcessLaunch, _ process: StartedChild, terminal: UVPipe?
    ) throws(UVError) {
        id = process.id
        descriptor = process.descriptor
        program = launch.program
        endsWithLoop = launch.endsWithLoop
        leadsGroup = launch.makesGroup || launch.makesSession
        self.terminal = terminal
        driver.claim(descriptor)
        try unsafe super.init(driver, UV_POLL, "watch") { unsafe uv_poll_init($0, $1, process.descriptor) }
        // This cannot fail: libuv has just made sure that the descriptor can be watched.
        unsafe uv_poll_start(memory(as: uv_poll_t.self), CInt(UV_READABLE.rawValue)) { handle, _, _ in
            unsafe UVProcess.from(handle!.pointee.data).look()
        }
        if loop.isObserved { loop.tell(.opened(line)) }
    }

    /// Called when the process has ended, and again and again while its status is not known yet.
    private func look() {
        guard !isClosing else { return }
        if killsGroupAtEnd { _ = try? signal(SIGKILL, toGroup: true) }
        var status: CInt = 0
        var isKnown = unsafe reap_process(descriptor, false, &status)
        // Other code of this process has reaped it. The kernel may be about to keep its status for us.
        if isKnown < 0 { isKnown = unsafe status_of_reaped(descriptor, &status) }
        guard isKnown != 0 else { return }
        let onEnd = onEnd
        close()
        turn { onEnd(isKnown > 0 ? status : nil) }
    }

    func signal(_ number: CInt, toGroup: Bool) throws(UVError) -> Bool {
        guard !isClosing else { return false }
        var status = signal_process(descriptor, number, toGroup)
        // Before Linux 6.9. While the process has not been reaped, no other group has its number.
        if status == -EINVAL, toGroup, signal_process(descriptor, 0, false) == 0 {
            status = kill(-id, number) == 0 ? 0 : -errno
        }
        guard status != 0, status != -ESRCH else { return status == 0 }
        throw UVError(status, "signal")
    }

    func setWindow(columns: UInt16, rows: UInt16) throws(UVError) {
        guard let descriptor = terminal?.descriptor, set_window_size(descriptor, columns, rows) else {
            throw UVError(terminal?.descriptor == nil ? -EBADF : -errno, "set window size")
        }
    }

    override func abort() {
        guard !isClosing else { return }
        isLeft = true
        if endsWithLoop { _ = try? signal(SIGKILL, toGroup: leadsGroup) }
        let onAbort = onAbort
        close()
        turn { onAbort() }
    }

    override var line: String { "process \(id) (\(program))" }

    override func didClose() {
        onEnd = { _ in }
        onAbort = {}
        if isLeft { UnreapedProcesses.reap(descriptor) } else { Glibc.close(descriptor) }
        if loop.isObserved { loop.tell(.closed(line, failure: nil)) }
    }
}

/// The processes that nobody waits for any more, and that must not become zombies.
enum UnreapedProcesses {
    /// Reaps a process when it ends, and closes its descriptor.
    static func reap(_ descriptor: CInt) {
        // libuv has made the descriptor non-blocking.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        let finish = { @Sendable (waits: Bool) -> Bool in
            var status: CInt = 0
            guard unsafe reap_process(descriptor, waits, &status) != 0 else { return false }
            close(descriptor)
            return true
        }
        if finish(false) { return }
        // Without a thread, the descriptor is lost and not the process.
        if startThreadWithoutSignals(name: "reaper", { _ = finish(true) }) != nil { close(descriptor) }
    }
}
