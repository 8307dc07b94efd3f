internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// An inotify instance, which the loop watches. libuv's own file watches do not report an overflow.
final class UVFileEvents: UVPollHandle, FileEventSource {
    private let inotify: Inotify
    private var mounts: UVMounts?
    /// The error because of which libuv no longer watches the descriptor.
    private var failure: SystemError?
    var onEvents: () -> Void = {}
    var onEnd: () -> Void = {}
    var watcher: any DirectoryWatcher { inotify }

    static func make(_ driver: UVLoop) throws(SystemError) -> UVFileEvents {
        let descriptor = StandardDescriptors.leave(make_inotify())
        guard descriptor >= 0 else { throw SystemError(-errno, "inotify_init1") }
        return try UVFileEvents(driver, Inotify(descriptor))
    }

    private init(_ driver: UVLoop, _ inotify: Inotify) throws(SystemError) {
        self.inotify = inotify
        try super.init(driver, polling: inotify.descriptor)
        unsafe uv_unref(handle)
        let status = unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { poll, status, _ in
            let events = unsafe UVFileEvents.from(poll!.pointee.data)
            if status < 0 { events.failure = SystemError(status, "poll") }
            events.onEvents()
        }
        try closeUnlessDone(status, "watch")
        do throws(SystemError) {
            mounts = try UVMounts.make(driver)
        } catch {
            close()
            throw error
        }
        mounts?.onChange = { [unowned self] in onEvents() }
    }

    func keepAlive(_ isNeeded: Bool) {
        guard !isClosing else { return }
        unsafe (isNeeded ? uv_ref : uv_unref)(handle)
    }

    func takeEvents() throws(SystemError) -> [FileEvent] {
        if let failure { throw failure }
        guard !isClosing else { return [] }
        let events = try inotify.takeEvents()
        return mounts?.takeChange() == true ? events + [FileEvent(-1, .unmounted)] : events
    }

    func removeWatch(_ watch: CInt) { if !isClosing { inotify.removeWatch(watch) } }

    override func abort() {
        let onEnd = onEnd
        close()
        onEnd()
    }

    override var line: String { "watch of files" }

    override func willClose() { mounts?.close() }

    override func didClose() {
        onEvents = {}
        onEnd = {}
    }
}

/// The descriptor of an inotify instance. Jobs on other threads may keep it open for a while.
private final class Inotify: DirectoryWatcher {
    /// The number of bytes that one read takes. The longest event has about 280.
    private static let portion = 64 * 1024
    let descriptor: CInt

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
        let watch = watch_directory(descriptor, Self.number(of: directory), changes.rawValue)
        guard watch >= 0 else { throw Self.error(errno) }
        return watch
    }

    func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
        let number = Self.number(of: directory)
        guard let name = Self.name(ofDirectory: number) else { return nil }
        let watch = watch_directory_above(descriptor, number, FileEventMask.ofReplacement.rawValue)
        guard watch >= 0 else {
            if errno == EACCES { return nil }
            throw Self.error(errno)
        }
        return WatchedPlace(watch: watch, name: name)
    }

    func watchMounted(_ name: RelativePath, in directory: any DirectoryHandle) throws(SystemError) -> CInt? {
        let number = Self.number(of: directory)
        guard MountTable.current.has(path: Self.path(ofDirectory: number), name) else { return nil }
        let path = name.bytes.map(CChar.init(bitPattern:)) + [0]
        let watch = unsafe watch_file(descriptor, number, path, FileEventMask.ofContents.rawValue)
        if watch < 0, errno == EACCES { return nil }
        guard watch >= 0 else { throw SystemError(-errno, "inotify_add_watch") }
        return watch
    }

    /// An open directory exists, so `ENOENT` means that the path of its descriptor does not.
    private static func error(_ number: CInt) -> SystemError {
        number == ENOENT ? .missingDescriptors : SystemError(-number, "inotify_add_watch")
    }

    func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable) {
        let all = MountTable.current
        return (all, all.below(Self.path(ofDirectory: Self.number(of: directory))))
    }

    private static func number(of directory: any DirectoryHandle) -> CInt {
        guard let number = directory.descriptor else {
            trap("A directory of a simulated system was watched on a loop of the real system.")
        }
        return number
    }

    /// Returns the name in the directory above. `nil` for the root, and for a path that is too long for the system.
    private static func name(ofDirectory number: CInt) -> RelativePath? {
        RelativePath(bytes: path(ofDirectory: number)).components.last
    }

    private static func path(ofDirectory number: CInt) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let length = unsafe path_of_directory(number, buffer.baseAddress, buffer.count)
            count = max(length, 0)
        }
    }

    func removeWatch(_ watch: CInt) { _ = inotify_rm_watch(descriptor, watch) }

    /// Takes the events that wait now. Events that come meanwhile may wait for the next call.
    func takeEvents() throws(SystemError) -> [FileEvent] {
        var events: [FileEvent] = []
        var failure: CInt = 0
        var waiting = Int(waiting_events(descriptor))
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 8) { buffer in
            repeat {
                let count = unsafe read(descriptor, buffer.baseAddress!, buffer.count)
                guard count > 0 else {
                    failure = count < 0 ? errno : EIO
                    return
                }
                unsafe Self.append(buffer[..<count], to: &events)
                waiting -= count
            } while waiting > 0
        }
        guard events.isEmpty, ![EAGAIN, EINTR].contains(failure) else { return events }
        throw SystemError(-failure, "read")
    }

    private static func append(_ bytes: Slice<UnsafeMutableRawBufferPointer>, to events: inout [FileEvent]) {
        var offset = 0
        while unsafe offset < bytes.count {
            let event = unsafe (bytes.base.baseAddress! + offset).assumingMemoryBound(to: inotify_event.self)
            let name = unsafe RelativePath(system: name_of_event(event)!)
            unsafe events.append(
                FileEvent(
                    event.pointee.wd, FileEventMask(rawValue: event.pointee.mask),
                    cookie: event.pointee.cookie, name: name.bytes.isEmpty ? nil : name))
            unsafe offset += MemoryLayout<inotify_event>.size + Int(event.pointee.len)
        }
    }
}
