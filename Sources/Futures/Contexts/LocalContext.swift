/// A choice of when a callback runs on its loop's thread: from the ready queue, at once, or later.
///
/// ``default`` and ``current`` are looked up when the callback is registered. An outcome that a step has no
/// callback for, such as an error in `map`, passes through that step at once, whatever the context. Callbacks
/// of one context run in the order in which their futures completed. Callbacks of one future run in the order
/// in which they were registered, and never overlap.
public struct LocalContext: Hashable, Sendable {
    /// The bits that a registration adds to the interest of a cell.
    @usableFromInline let placement: UInt16

    @inlinable
    init(placement: UInt16) { self.placement = placement }

    /// The context that runs callbacks from the loop's ready queue, later in this turn.
    @inlinable public static var loop: LocalContext { LocalContext(placement: 0) }

    /// The context that runs callbacks at once: within the call that completes the future, or within the call
    /// that registers on a completed future.
    ///
    /// The call makes all its other changes before the callbacks run. If a callback completes a different
    /// future, the callbacks of that future interrupt it. Further callbacks of the same future do not
    /// interrupt the callback: they run after it. Callbacks that complete each other's futures in this way
    /// are nested at most ``depthLimit`` deep. Deeper ones run from the ready queue.
    @inlinable public static var immediate: LocalContext { LocalContext(placement: 1 << 4) }

    /// The context that runs callbacks after the loop has looked for I/O and timers once.
    @inlinable public static var nextTurn: LocalContext { LocalContext(placement: 2 << 4) }

    /// The context that runs callbacks when the loop is idle: it has looked for I/O and timers and found
    /// none, and nothing else is ready. The loop then runs one callback of this context. Everything that this
    /// callback starts runs before the next one.
    @inlinable public static var whenIdle: LocalContext { LocalContext(placement: 3 << 4) }

    /// The loop's ``EventLoop/defaultContext``.
    @inlinable public static var `default`: LocalContext { LocalContext(placement: 3 << 8) }

    /// The context of the callback that is running at the time of the registration, or ``loop`` outside of
    /// callbacks.
    @inlinable public static var current: LocalContext { LocalContext(placement: 3 << 10) }

    /// The depth to which callbacks that run at once may be nested.
    public static let depthLimit = 20
}

extension LocalContext: CustomStringConvertible {
    public var description: String {
        switch self {
        case .loop: "loop"
        case .immediate: "immediate"
        case .nextTurn: "nextTurn"
        case .whenIdle: "whenIdle"
        case .current: "current"
        default: "default"
        }
    }
}

extension Cell.Interest {
    // The bits above those of the outcomes hold the context. Bits 4 and 5 hold the context that was given, or
    // the loop's default. Bits 6 and 7 hold the context of the running callback. Bits 8 to 11 are masks for
    // bits 4 to 7: they say which of these two contexts to look up. Therefore the look-up needs no branch,
    // and costs a `map` nothing.

    /// Returns this interest with `context`. A `default` or `current` context is looked up later, by
    /// `placed(by:)`.
    @inlinable
    func on(_ context: LocalContext) -> Cell.Interest {
        Cell.Interest(rawValue: rawValue | context.placement)
    }

    /// Returns this interest with the context looked up in `inherited`.
    @inline(__always)
    func placed(by inherited: Cell.Interest) -> Cell.Interest {
        Cell.Interest(rawValue: rawValue | rawValue >> 4 & inherited.rawValue)
    }

    /// Returns whether `outcome` runs the step from the ready queue. `outcome` must be a single outcome.
    @inline(__always)
    func isQueued(by outcome: Cell.Interest) -> Bool {
        rawValue & (0xF0 | outcome.rawValue) == outcome.rawValue
    }

    /// The context. Call `placed(by:)` before.
    var context: LocalContext { LocalContext(placement: (rawValue | rawValue >> 2) & 3 << 4) }
}
