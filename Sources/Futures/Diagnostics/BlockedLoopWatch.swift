internal import CFuturesRuntime
internal import Dispatch

/// A watch for callbacks that do not end. It asks the loop for an answer again and again, on another thread.
final class BlockedLoopWatch: Sendable {
    private enum State {
        /// The loop has answered, or has not been asked.
        case free
        case asked(since: UInt64)
        case reported
    }

    private typealias Report = @Sendable (BlockedLoop) -> Void

    private let threshold: UInt64
    /// The loop, and the handler. `nil` after the end.
    private let target: Locked<(loop: LoopCore, report: Report)?>
    private let state = Locked(State.free)
    /// The thread that works for the loop, or 0 if nobody does.
    private let thread = Locked<Int32>(0)

    init(of loop: LoopCore, after threshold: UInt64, _ report: @escaping @Sendable (BlockedLoop) -> Void) {
        self.threshold = threshold
        target = Locked((loop, report))
    }

    /// Looks again and again until the watch ends. Holds the watch meanwhile, but after the end no loop.
    func start() {
        let pause = DispatchTimeInterval.nanoseconds(Int(clamping: max(threshold / 2, 1)))
        Self.queue.asyncAfter(deadline: .now() + pause) { [self] in
            if look(at: DispatchTime.now().uptimeNanoseconds) { start() }
        }
    }

    // One for all loops: only one thread at a time may be asked where it is.
    private static let queue = DispatchQueue(label: "blocked loops")

    /// Asks the loop, unless an answer is due. Reports a loop that owes its answer for too long. Returns `false` after the
    /// end.
    func look(at now: UInt64) -> Bool {
        let (mustAsk, duration) = state.withLock { state -> (Bool, UInt64?) in
            switch state {
            case .free:
                state = .asked(since: now)
                return (true, nil)
            case .asked(let since) where now >= since && now - since >= threshold && isAtWork:
                state = .reported
                return (false, now - since)
            case .asked, .reported: return (false, nil)
            }
        }
        guard let loop = target.withLock({ $0?.loop }) else { return false }
        if mustAsk, !loop.accept({ [self] in answer() }) { end() }
        if let duration {
            let blocked = blocked(for: .nanoseconds(Int64(clamping: duration)))
            // Its thread may not answer for a second, and end the watch meanwhile.
            target.withLock { $0?.report }?(blocked)
        }
        return true
    }

    private var isAtWork: Bool { thread.withLock { $0 } != 0 }

    private func answer() { state.withLock { $0 = .free } }

    /// Notes that the calling thread begins to work for the loop. Who has waited for an answer meanwhile begins anew.
    func workBegins() {
        thread.withLock { $0 = begin_to_answer() }
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            if case .asked = state { state = .asked(since: now) }
        }
    }

    func workEnds() { thread.withLock { $0 = 0 } }

    /// Releases the handler, which is not called any more.
    func end() { withExtendedLifetime(target.withLock { $0.take() }) {} }

    private func blocked(for duration: Duration) -> BlockedLoop {
        var found = return_addresses_of(thread.withLock { $0 })
        var place: String?
        #if DEBUG
            place = Callers(found).place
            // Some instructions belong to no line, and in a stub of the linker, a call is not found. A moment later, the
            // thread is elsewhere.
            for _ in 0..<5 where place == nil && return_address_at(found, 0) != 0 {
                let later = return_addresses_of(thread.withLock { $0 })
                guard case .reported = state.withLock({ $0 }) else { break }
                (found, place) = (later, Callers(later).place)
            }
        #endif
        let addresses = (0..<24).map { return_address_at(found, $0) }.filter { $0 != 0 }
        return BlockedLoop(duration: duration, place: place, calls: addresses.compactMap(Self.name))
    }

    /// The name of a return address: the file of the code, the offset in it, and the function if the file tells. `nil` if
    /// there is no code: a frame may lead to what is none.
    private static func name(of address: UInt) -> String? {
        var info = unsafe code_place()
        guard let code = unsafe UnsafeRawPointer(bitPattern: address - 1),
            unsafe place_of_code(code, &info) != 0, let file = unsafe info.file
        else { return nil }
        let name = unsafe String(cString: file).split(separator: "/").last ?? "?"
        let offset = unsafe String(address - 1 - UInt(bitPattern: info.start), radix: 16)
        let function = unsafe info.function.map { unsafe " " + String(cString: $0) } ?? ""
        return "\(name)+0x\(offset)\(function)"
    }
}
