/// A single-threaded scheduler: runs callbacks, timers and I/O, one after another, on the thread that runs it.
///
/// Futures, promises and timers belong to the loop that made them and may only be used on its thread. Using them
/// elsewhere traps. The loop itself may be passed around freely. Other threads reach it by ``execute(_:)``,
/// `run { … }`, ``wait(timeout:_:)``, ``makeRemotePromise(of:file:line:)`` and ``stop()``.
///
/// A loop belongs to the thread that made it until it is run. A loop that is attached to a host's loop belongs to the
/// thread that attached it, and only the host runs it.
///
/// The loop lasts as long as you hold what `EventLoop()` has returned. What `future.loop`, a connection or
/// ``current`` return does not count. End the loop by ``shutdown()``. Releasing it earlier ends it in the same way:
/// what is pending fails with ``FutureError/shutDown``, and all is closed. A build for debugging reports this on
/// standard error. Releasing it on another thread while something is alive on it traps. A closure that is registered
/// on the loop and captures it keeps it alive, as it would any object. In such a closure, take the loop from the
/// future or the connection at hand. The callbacks of that end run within the release: in them, `[unowned self]` of
/// an object that holds the loop traps. Compare loops by `==`.
@safe
public class EventLoop: @unchecked Sendable {
    // Sendable because the reference below never changes once the loop is made.

    @exclusivity(unchecked) @usableFromInline final var reference: Unmanaged<LoopCore>!
    /// The object that holds all state of the loop. The core of a core is itself.
    @usableFromInline
    package final var core: LoopCore {
        @inline(__always) get { unsafe reference.takeUnretainedValue() }
    }

    /// Calls `body` with the core, which nothing else retains meanwhile. Costs less than `core`.
    @inlinable @inline(__always)
    package final func withCore<Result>(_ body: (LoopCore) throws -> Result) rethrows -> Result {
        try unsafe reference.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
    }

    /// Creates the object that a user holds, which owns the core.
    package init(owning core: LoopCore) {
        unsafe reference = Unmanaged.passRetained(core)
    }

    /// Creates a core, which is its own core.
    init(asCore _: Void) {
        unsafe reference = Unmanaged.passUnretained(unsafeDowncast(self, to: LoopCore.self))
    }

    deinit {
        guard core !== self else { return }
        core.ownerIsGone()
        unsafe reference.release()
    }

    /// Whether the caller is on the loop's thread. Any thread.
    public final var isCurrent: Bool {
        // Inlined: to other threads, which give it jobs, it says no at once.
        @inline(__always) get { withCore { $0.isCaller } }
    }

    /// The number of ready callbacks, and of jobs from other threads, that a turn runs before I/O, timers and a host
    /// get their chance. 4096, unless set.
    ///
    /// Counts from the next turn. What is left goes on in the turn after that, in order. A smaller number shortens
    /// the time for which endless work holds up everything else, and makes the loop look for I/O more often. Traps if
    /// it is less than 1.
    public var turnBudget: Int {
        get { core.turnState.budget }
        set {
            core.checkThread()
            if newValue < 1 { Misuse.size(newValue, of: "A turn's budget", atLeast: 1) }
            core.turnState.budget = newValue
        }
    }

    /// A handler that is called once, at the end of the turn, for each future that failed and was released before
    /// anything saw the failure.
    ///
    /// Unless set, prints to standard error, at most ten lines a second: what has failed, the error, and, if the
    /// library was built for debugging, the place where the future was made.
    ///
    /// Released when the loop has been shut down, or when the future of ``detach()`` completes, and never called
    /// afterwards: later failures are printed.
    public var onUnhandledFailure: ((any Error) -> Void)? {
        get { core.unhandled.handler }
        set {
            core.checkThread()
            if !core.unhandled.isOver { core.unhandled.handler = newValue }
        }
    }
}

extension EventLoop: Hashable {
    /// Returns whether both are the same loop, no matter where you got them.
    public static func == (a: EventLoop, b: EventLoop) -> Bool { a.core === b.core }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(core)) }
}
