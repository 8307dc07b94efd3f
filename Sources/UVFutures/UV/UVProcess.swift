internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A child process, watched by its descriptor and not by SIGCHLD, which a host may handle as it likes.
final class UVProcess: UVPollHandle, ProcessHandle {
    let id: Int32
    private let program: String
    private let endsWithLoop, leadsGroup: Bool
    private weak var terminal: UVPipe?
    /// Whether the process has ended. Its group may still exist.
    private var hasEnded = false
    /// Whether the process still has to be reaped when this handle has been closed.
    private var isLeft = false
    /// A process that was in the group at the last check.
    private var member: Int32?
    var onEnd: (CInt?) -> Void = { _ in }
    var onAbort: () -> Void = {}

    /// Creates a handle that takes over the descriptor of `process`. If this throws, the caller keeps the descriptor.
    init(
        _ driver: UVLoop, _ launch: ProcessLaunch, _ process: StartedChild, terminal: UVPipe?
    ) throws(SystemError) {
        id = process.id
        program = launch.program
        endsWithLoop = launch.endsWithLoop
        leadsGroup = launch.makesGroup || launch.makesSession
        self.terminal = terminal
        try super.init(driver, polling: process.descriptor)
        // This cannot fail: libuv has just made sure that the descriptor can be watched.
        unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { handle, _, _ in
            unsafe UVProcess.from(handle!.pointee.data).look()
        }
        if loop.isObserved { loop.tell(.opened(line)) }
    }

    /// Called when the process has ended, and again and again while its status is not known yet.
    private func look() {
        var status: CInt = 0
        // Where the descriptor cannot stand for the group, the unreaped leader keeps the number of the group.
        isLeft = leadsGroup && signal_process(descriptor, 0, true) == -EINVAL
        var isKnown = unsafe reap_process(
            WAIT_BY_PIDFD, descriptor, isLeft ? WNOHANG | WNOWAIT : WNOHANG, &status)
        // Other code of this process has reaped it. The kernel may be about to keep its status for us.
        if isKnown < 0 { isKnown = unsafe status_of_reaped(descriptor, &status) }
        guard isKnown != 0 else { return }
        hasEnded = true
        if !isLeft { OwnChildren.wasReaped(id) }
        unsafe uv_poll_stop(poll)
        turn { onEnd(isKnown > 0 ? status : nil) }
    }

    var groupLives: Bool {
        guard !isClosing else { return false }
        var status = signal_process(descriptor, 0, true)
        // Reaps ended processes of the group that were left to this process, as they are to process 1. As long as the
        // group exists, no other group has its number.
        var exit: CInt = 0
        while status == 0, unsafe reap_process(WAIT_BY_GROUP, id, WNOHANG, &exit) > 0 {
            status = signal_process(descriptor, 0, true)
        }
        // Before Linux 6.9, the group is known by its number, which is its own until the leader has been reaped.
        let isKnownByNumber = status == -EINVAL
        if status == -ESRCH || isKnownByNumber && signal_process(descriptor, 0, false) != 0 { return false }
        // To the system, the group exists as long as one of its processes has not been reaped.
        if let member, ProcessGroup.contains(member, in: id) { return true }
        guard let members = ProcessGroup.members(of: id) else { return !isKnownByNumber }
        member = members.first
        return member != nil
    }

    func signal(_ number: CInt, toGroup: Bool) throws(SystemError) -> Bool {
        guard !isClosing else { return false }
        var status = signal_process(descriptor, number, toGroup)
        // Before Linux 6.9. While the process has not been reaped, no other group has its number.
        if status == -EINVAL, toGroup, signal_process(descriptor, 0, false) == 0 {
            status = kill(-id, number) == 0 ? 0 : -errno
        }
        guard status != 0, status != -ESRCH else { return status == 0 }
        throw SystemError(status, "signal")
    }

    func setWindow(columns: UInt16, rows: UInt16) throws(SystemError) {
        guard let descriptor = terminal?.descriptor, set_window_size(descriptor, columns, rows) else {
            throw SystemError(terminal?.descriptor == nil ? -EBADF : -errno, "set window size")
        }
    }

    override func abort() {
        guard !isClosing else { return }
        isLeft = isLeft || !hasEnded
        if endsWithLoop { _ = try? signal(SIGKILL, toGroup: leadsGroup) }
        let onAbort = onAbort
        close()
        turn { onAbort() }
    }

    override var line: String {
        let process = "process \(id) (\(program))"
        return hasEnded && !isClosing ? "group of \(process), which has ended" : process
    }

    override func didClose() {
        onEnd = { _ in }
        onAbort = {}
        if isLeft { UnreapedProcesses.reap(id, descriptor) } else { Glibc.close(descriptor) }
        if loop.isObserved { loop.tell(.closed(line, failure: nil)) }
    }
}

/// The processes that nobody waits for any more, and that must not become zombies.
enum UnreapedProcesses {
    /// Reaps a process when it ends, and closes its descriptor.
    static func reap(_ id: Int32, _ descriptor: CInt) {
        // libuv has made the descriptor non-blocking.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        let finish = { @Sendable (waits: Bool) -> Bool in
            var status: CInt = 0
            let result = unsafe reap_process(WAIT_BY_PIDFD, descriptor, waits ? 0 : WNOHANG, &status)
            guard result != 0 else { return false }
            OwnChildren.wasReaped(id)
            close(descriptor)
            return true
        }
        if finish(false) { return }
        // Without a thread, nothing reaps the process, but the descriptor is still closed.
        if startThreadWithoutSignals(name: "reaper", { _ = finish(true) }) != nil { close(descriptor) }
    }
}
