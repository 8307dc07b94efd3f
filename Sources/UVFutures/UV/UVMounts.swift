internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// The mount table, which the loop watches for changes. Watches of directories do not report such changes.
final class UVMounts: UVPollHandle {
    private var firstLook: UVFirstLook?
    private var hasChanged = false
    /// Called when something was mounted or unmounted. The call comes outside of a turn.
    var onChange: () -> Void = {}

    /// Returns `nil` where the system has no such table.
    static func make(_ driver: UVLoop) throws(SystemError) -> UVMounts? {
        guard let descriptor = try open() else { return nil }
        let mounts = try UVMounts(driver, descriptor)
        do throws(SystemError) {
            guard let witness = try open() else { return mounts }
            mounts.firstLook = try UVFirstLook(driver, witness) { [unowned mounts] in mounts.changed() }
        } catch {
            mounts.close()
            throw error
        }
        return mounts
    }

    private static func open() throws(SystemError) -> CInt? {
        let descriptor = unsafe StandardDescriptors.leave(
            Glibc.open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        if descriptor < 0, errno != ENOENT, errno != EACCES { throw SystemError(-errno, "open") }
        return descriptor < 0 ? nil : descriptor
    }

    private init(_ driver: UVLoop, _ descriptor: CInt) throws(SystemError) {
        do throws(SystemError) {
            try super.init(driver, polling: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        unsafe uv_unref(handle)
        let status = unsafe uv_poll_start(poll, CInt(UV_PRIORITIZED.rawValue)) { poll, _, _ in
            unsafe UVMounts.from(poll!.pointee.data).changed()
        }
        try closeUnlessDone(status, "watch")
    }

    /// Whether something has changed since the last call.
    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    override var line: String { "watch of the mount table" }

    private func changed() {
        hasChanged = true
        onChange()
    }

    override func willClose() { firstLook?.close() }

    override func didClose() {
        onChange = {}
        Glibc.close(descriptor)
    }
}

/// Checks once whether something was mounted before the loop's first wait. The loop registers its descriptors only
/// then, and the system counts earlier changes as seen.
private final class UVFirstLook: UVHandle {
    private let witness: CInt
    private var onChange: () -> Void

    init(_ driver: UVLoop, _ witness: CInt, onChange: @escaping () -> Void) throws(SystemError) {
        (self.witness, self.onChange) = (witness, onChange)
        try unsafe super.init(driver, UV_CHECK, "watch", initialize: uv_check_init)
        unsafe uv_unref(handle)
        unsafe uv_check_start(memory(as: uv_check_t.self)) { check in
            unsafe UVFirstLook.from(check!.pointee.data).look()
        }
    }

    private func look() {
        var poll = pollfd(fd: witness, events: Int16(POLLPRI), revents: 0)
        if unsafe Glibc.poll(&poll, 1, 0) > 0 { onChange() }
        close()
    }

    override var line: String { "first check of the mount table" }

    override func didClose() {
        onChange = {}
        Glibc.close(witness)
    }
}
