internal import CLibUV
internal import Glibc

/// The table of what is mounted, which the loop watches for changes. No watch of a directory tells of them.
final class UVMounts: UVHandle {
    private let descriptor: CInt
    private var hasChanged = false
    /// Called when something was mounted or unmounted. The call comes outside of a turn.
    var onChange: () -> Void = {}

    /// Returns `nil` where the system has no such table, or tells no changes of it.
    static func make(_ driver: UVLoop) -> UVMounts? {
        let descriptor = unsafe StandardDescriptors.leave(
            open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        return try? UVMounts(driver, descriptor)
    }

    private init(_ driver: UVLoop, _ descriptor: CInt) throws(UVError) {
        self.descriptor = descriptor
        driver.claim(descriptor)
        do throws(UVError) {
            try unsafe super.init(driver, UV_POLL, "watch") { unsafe uv_poll_init($0, $1, descriptor) }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        unsafe uv_unref(handle)
        let status = unsafe uv_poll_start(memory(as: uv_poll_t.self), CInt(UV_PRIORITIZED.rawValue)) {
            poll, _, _ in
            let mounts = unsafe UVMounts.from(poll!.pointee.data)
            mounts.hasChanged = true
            mounts.onChange()
        }
        try closeUnlessDone(status, "watch")
    }

    /// Whether something has changed since the last call.
    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    override var line: String { "watch of what is mounted" }

    override func didClose() {
        onChange = {}
        Glibc.close(descriptor)
    }
}
