internal import CLibUV
internal import Futures
internal import Glibc

/// A watch of a descriptor that other code owns.
///
/// libuv aborts the process if such a descriptor is gone when it is handed to the system. It also keeps watching a
/// number that stands for something else. So the descriptor is checked before.
final class UVPoll: UVHandle {
    let descriptor: CInt
    private let identity: FileIdentity
    private(set) var interest: DescriptorEvents = []
    private var isStarted = false
    /// The index in the list of waiting watches.
    fileprivate var index = -1

    /// Called with the events that occur; not in a turn.
    var onEvents: (DescriptorEvents) -> Void = { _ in }
    /// Called when the descriptor stands for something else, or for nothing; not in a turn.
    var onLoss: (any Error) -> Void = { _ in }
    var onClose: () -> Void = {}
    /// The reason why the descriptor cannot be watched any more, if it cannot.
    private(set) var loss: (any Error)?

    static func watch(_ descriptor: CInt, on driver: UVLoop) throws -> UVPoll {
        guard let identity = FileIdentity(of: descriptor) else {
            throw FutureError.invalidArgument(
                "descriptor \(descriptor) is not open; watch it after it has been opened")
        }
        if let other = driver.polls.open[descriptor] {
            guard other.identity != identity else {
                throw FutureError.invalidArgument(
                    "descriptor \(descriptor) is watched on this loop already; use that watch, or close it first"
                )
            }
            other.lose()
        }
        do throws(UVError) {
            return try UVPoll(driver, descriptor, identity)
        } catch {
            let reason =
                switch error.code.rawValue {
                case UV_EPERM.rawValue:
                    "cannot be watched: it is a file or the like, which never makes one wait; read or write it in "
                        + "RemoteContext.pool"
                case UV_EEXIST.rawValue: "belongs to a stream or a listener of this loop; use that instead"
                default: "cannot be watched: the system says \(error.code), \(error.code.message)"
                }
            throw FutureError.invalidArgument("descriptor \(descriptor) \(reason)")
        }
    }

    private init(_ driver: UVLoop, _ descriptor: CInt, _ identity: FileIdentity) throws(UVError) {
        self.descriptor = descriptor
        self.identity = identity
        let flags = fcntl(descriptor, F_GETFL)
        try unsafe super.init(driver, UV_POLL, "watch") { unsafe uv_poll_init($0, $1, descriptor) }
        // libuv has changed it, also for whoever shares the descriptor and does not expect it.
        if flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags) }
        driver.polls.open[descriptor] = self
    }

    private var poll: UnsafeMutablePointer<uv_poll_t> { unsafe memory(as: uv_poll_t.self) }

    func setInterest(_ interest: DescriptorEvents) {
        guard interest != self.interest, !isClosing, loss == nil else { return }
        self.interest = interest
        guard !interest.isEmpty else { return stop() }
        let status = unsafe uv_poll_start(poll, interest.rawValue) { handle, status, events in
            unsafe UVPoll.from(handle!.pointee.data).isReady(status, events)
        }
        // Otherwise something else has got the number, and is found out in the same way.
        isStarted = status == 0
        driver.polls.started.append(self)
        driver.checksWatches = true
    }

    private func stop() {
        interest = []
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

    /// Whether the descriptor still stands for the same file.
    fileprivate var isValid: Bool { isStarted && FileIdentity(of: descriptor) == identity }

    func lose() {
        guard !isClosing, loss == nil else { return }
        stop()
        leaveList()
        let error = FutureError.invalidArgument(
            "descriptor \(descriptor) was closed while it was watched; close the watch before the descriptor")
        loss = error
        onLoss(error)
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
        let onClose = onClose
        self.onClose = {}
        onEvents = { _ in }
        onLoss = { _ in }
        onClose()
    }
}

/// The identity of the file that a descriptor stands for.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// `nil` if the descriptor is not open.
    init?(of descriptor: CInt) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
}

/// The watches of a loop, and which of them to check.
struct UVPollList {
    /// The number of long-waiting watches that are checked in a round.
    private static let share = 16

    /// The open watches, by descriptor.
    fileprivate var open: [CInt: UVPoll] = [:]
    /// The watches that the system does not know yet.
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
    /// Finds descriptors that were closed while they were watched, before the system is asked to wait for them.
    func checkWatches() {
        var candidates = polls.takeShare()
        repeat {
            let started = polls.started.filter { !$0.interest.isEmpty }
            polls.started = []
            for poll in started { polls.add(poll) }
            candidates += started
            for poll in candidates where !poll.interest.isEmpty && !poll.isValid { poll.lose() }
            candidates = []
        } while !polls.started.isEmpty
        checksWatches = polls.isNeeded
    }
}
