internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A watch of a descriptor that other code owns.
///
/// libuv aborts the process when it passes a closed descriptor to the system. If the number stands for
/// another file by then, libuv watches the other file. So this library checks the descriptor before.
final class UVPoll: UVPollHandle, DescriptorPoll {
    private let identity: FileIdentity
    private(set) var interest: DescriptorEvents = []
    private var isStarted = false
    /// Whether libuv has passed the watch to the system.
    fileprivate var isRegistered = false
    /// The index in the list of waiting watches.
    fileprivate var index = -1

    var onEvents: (DescriptorEvents) -> Void = { _ in }
    var onLoss: (any Error) -> Void = { _ in }
    var onClose: () -> Void = {}
    private(set) var loss: (any Error)?

    static func watch(_ descriptor: CInt, on driver: UVLoop) throws -> UVPoll {
        guard let identity = FileIdentity(of: descriptor) else {
            throw FutureError.invalidArgument(
                "descriptor \(descriptor) is not open; watch it after it has been opened")
        }
        try AdoptedDescriptors.checkIsNotOwned(descriptor, on: driver)
        if driver.watches(descriptor) {
            throw FutureError.invalidArgument(
                "descriptor \(descriptor) is watched on this loop already; use that watch, or close it first")
        }
        do throws(SystemError) {
            return try UVPoll(driver, descriptor, identity)
        } catch {
            let reason =
                switch error.code.rawValue {
                case UV_EPERM.rawValue:
                    "cannot be watched: it is a file or the like, which is always ready; read or write it in "
                        + "RemoteContext.pool"
                case UV_EEXIST.rawValue: "belongs to another handle of the libuv loop; use that instead"
                default: "cannot be watched: the system says \(error.code), \(error.code.message)"
                }
            throw FutureError.invalidArgument("descriptor \(descriptor) \(reason)")
        }
    }

    private init(_ driver: UVLoop, _ descriptor: CInt, _ identity: FileIdentity) throws(SystemError) {
        self.identity = identity
        let flags = fcntl(descriptor, F_GETFL)
        try super.init(driver, polling: descriptor)
        // libuv has set non-blocking mode. Other code shares this mode and does not expect the change, so the
        // former mode is restored.
        if flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags) }
        driver.polls.open[descriptor] = self
    }

    func setInterest(_ interest: DescriptorEvents) {
        guard interest != self.interest, !isClosing, loss == nil else { return }
        self.interest = interest
        guard !interest.isEmpty else { return stop() }
        isRegistered = false
        let status = unsafe uv_poll_start(poll, interest.rawValue) { handle, status, events in
            unsafe UVPoll.from(handle!.pointee.data).isReady(status, events)
        }
        // If this fails, the number stands for another file by now. `checkWatches` finds that out.
        isStarted = status == 0
        driver.polls.started.append(self)
        driver.checksWatches = true
    }

    private func stop() {
        interest = []
        isRegistered = false
        if isStarted { unsafe uv_poll_stop(poll) }
        isStarted = false
        driver.polls.stopWaiting(self)
    }

    private func isReady(_ status: CInt, _ events: CInt) {
        guard status < 0 else { return onEvents(DescriptorEvents(rawValue: events)) }
        let interest = interest
        stop()
        onEvents(interest.union(.failed))
    }

    /// Whether the descriptor still stands for the same file. Only the system knows that for sure: a file that has been
    /// opened again has the same identity, and so have all event counters, timers and the like.
    fileprivate var isValid: Bool {
        guard isRegistered else { return FileIdentity(of: descriptor) == identity }
        return is_watched(unsafe uv_backend_fd(driver.loop), descriptor)
    }

    fileprivate var isLost: Bool { !interest.isEmpty && !(isStarted && isValid) }

    func lose() {
        guard !isClosing, loss == nil else { return }
        stop()
        leaveList()
        let error = FutureError.invalidArgument(
            "descriptor \(descriptor) was closed while it was watched; close the watch before the descriptor")
        loss = error
        onLoss(error)
        // Closed now, since this removes the number from the system's set. Later, the number may stand
        // there for something new.
        close()
    }

    private func leaveList() {
        driver.polls.remove(self)
        if driver.polls.open[descriptor] === self { driver.polls.open[descriptor] = nil }
    }

    func closeWatch() {
        guard !isClosing else { return }
        interest = []
        leaveList()
        close()
    }

    override func abort() { closeWatch() }

    override var line: String {
        "watch of descriptor \(descriptor), \(interest.isEmpty ? "not waiting" : "waiting")"
    }

    override func didClose() {
        onEvents = { _ in }
        onLoss = { _ in }
        exchange(&onClose, with: {})()
    }
}

/// The identity of the file that a descriptor stands for.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// Reads the identity. Returns `nil` if the descriptor is not open.
    init?(of descriptor: CInt) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
}

/// The watches of a loop, and those of them that have to be checked.
struct UVPollList {
    /// The number of long-waiting watches that are checked in a round.
    private static let share = 16

    /// The open watches, by descriptor.
    fileprivate var open: [CInt: UVPoll] = [:]
    /// The watches that libuv has not passed to the system yet.
    fileprivate var started: [UVPoll] = []
    private var waiting: [UVPoll] = []
    private var next = 0

    fileprivate var isNeeded: Bool { !started.isEmpty || !waiting.isEmpty }

    fileprivate mutating func add(_ poll: UVPoll) {
        guard poll.index < 0 else { return }
        poll.index = waiting.count
        waiting.append(poll)
    }

    fileprivate mutating func remove(_ poll: UVPoll) {
        started.removeAll { $0 === poll }
        stopWaiting(poll)
    }

    fileprivate mutating func stopWaiting(_ poll: UVPoll) {
        guard poll.index >= 0 else { return }
        let last = waiting.removeLast()
        if last !== poll {
            waiting[poll.index] = last
            last.index = poll.index
        }
        poll.index = -1
    }

    /// Returns the next long-waiting watches, in rotation.
    fileprivate mutating func takeShare() -> [UVPoll] {
        (0..<min(Self.share, waiting.count)).map { _ in
            next = next + 1 < waiting.count ? next + 1 : 0
            return waiting[next]
        }
    }
}

extension UVLoop {
    /// Whether a watch of this loop watches what the descriptor stands for now.
    func watches(_ descriptor: CInt) -> Bool {
        polls.open[descriptor]?.isValid ?? false
    }

    /// Ends a former watch or owner of the number of a new descriptor, which does not know yet that other code has
    /// closed its descriptor. Called before libuv sees the new descriptor: libuv has one place for each number, and
    /// would go on reporting events to the former watch or owner.
    @inline(__always)
    func claim(_ descriptor: CInt) {
        if !polls.open.isEmpty || !adopted.isEmpty { endFormer(descriptor) }
    }

    @inline(never)
    private func endFormer(_ descriptor: CInt) {
        if let poll = polls.open[descriptor] { poll.lose() }
        adopted[descriptor]?.owner?.hasLostDescriptor()
    }

    /// Finds descriptors that were closed while they were watched. Called before libuv passes them to the
    /// system.
    func checkWatches() {
        var candidates = polls.takeShare()
        repeat {
            let started = polls.started.filter { !$0.interest.isEmpty }
            polls.started = []
            for poll in started { polls.add(poll) }
            candidates += started
            let lost = candidates.filter(\.isLost)
            for poll in started { poll.isRegistered = true }
            for poll in lost { eventLoop.turn { poll.lose() } }
            candidates = []
        } while !polls.started.isEmpty
        checksWatches = polls.isNeeded
    }
}
