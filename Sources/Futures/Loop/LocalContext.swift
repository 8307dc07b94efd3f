/// Says when the loop calls a callback: at once, later in the same turn, in the next turn, or when the loop
/// is idle.
///
/// A loop works in turns. A turn is one event, such as a timer or bytes from a peer, and the callbacks that
/// become ready through that event. Ready callbacks wait in the ready queue of the loop.
///
/// The contexts ``default`` and ``current`` stand for one of the other contexts. The loop decides which one
/// when the callback is registered. Callbacks of one context run in the order in which their futures
/// completed. Callbacks of one future run in the order in which they were registered, one after another.
///
/// A context matters only for outcomes that have a callback. For example, `map` has no callback for an error.
/// So it passes an error on at once, in any context.
public struct LocalContext: Hashable, Sendable {
    /// The bits that a registration adds to the interest of a cell.
    @usableFromInline let placement: UInt16

    @inlinable
    init(placement: UInt16) { self.placement = placement }

    /// The context that runs callbacks from the loop's ready queue, later in the same turn.
    @inlinable public static var loop: LocalContext { LocalContext(placement: 0) }

    /// The context that runs callbacks at once, within the call that completes the future. If the future has
    /// completed already, the callback runs within the call that registers the callback.
    ///
    /// The call makes all its other changes before the callbacks run. If a callback completes a second
    /// future, the callbacks of the second future run inside that callback. The next callback of the first
    /// future runs after that. At most ``depthLimit`` callbacks run inside one another. Callbacks beyond this
    /// limit run from the ready queue.
    @inlinable public static var immediate: LocalContext { LocalContext(placement: 1 << 4) }

    /// The context that runs callbacks in the loop's next turn, after the loop has looked for I/O and timers
    /// once.
    @inlinable public static var nextTurn: LocalContext { LocalContext(placement: 2 << 4) }

    /// The context that runs callbacks when the loop is idle: no callback of another context is ready, and
    /// the loop has looked for I/O and timers and found none. The loop then runs one callback of this
    /// context. Before the loop runs the next callback of this context, it runs all callbacks that the first
    /// one has made ready.
    @inlinable public static var whenIdle: LocalContext { LocalContext(placement: 3 << 4) }

    /// The context that is the loop's ``EventLoop/defaultContext`` when the callback is registered.
    @inlinable public static var `default`: LocalContext { LocalContext(placement: 3 << 8) }

    /// The context of the callback that is running when the new callback is registered. If no callback is
    /// running, this context is ``loop``.
    @inlinable public static var current: LocalContext { LocalContext(placement: 3 << 10) }

    /// The largest number of callbacks that can run inside one another with the context ``immediate``.
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
