/// A scheduler for one thread. It runs callbacks, timers and I/O one after another, on the thread that calls
/// ``run()``.
///
/// Futures, promises and timers belong to the loop that made them. Use them only on the thread of that loop.
/// Using them on a different thread traps. You can pass the loop object itself to any thread. Other threads
/// reach the loop by ``execute(_:)``, `run { … }`, ``wait(timeout:_:)``, ``makeRemotePromise(of:file:line:)``
/// and ``stop()``.
///
/// Until a loop is run, it belongs to the thread that made it. A loop that is attached to a host's loop belongs to
/// the thread that attached it, and only the host runs it.
///
/// The loop lives as long as you hold the object that `EventLoop()` returned. The objects that `future.loop`, a
/// connection or ``current`` return do not keep the loop alive. End the loop with ``shutdown()``. If you release the
/// loop without that, the release ends it in the same way: everything that is pending fails with
/// ``FutureError/shutDown``, and all handles are closed. The callbacks of the futures that fail this way run before the
/// release returns. If the loop is released because the object that holds it goes, use `[weak self]` in such callbacks:
/// `[unowned self]` traps there. If anything is still pending or open at that moment, a build for debugging reports it
/// on standard error, and releasing the loop on another thread than its own traps.
///
/// A closure that is registered on the loop and captures the loop object keeps the loop alive. In such a closure, use
/// the loop of a future or of a connection instead. Compare loops with `==`.
@safe
public class EventLoop: @unchecked Sendable {
    // Sendable because the reference below never changes after the loop has been made.

    @exclusivity(unchecked) @usableFromInline final var reference: Unmanaged<LoopCore>!
    /// The object that holds all state of the loop. The `core` of a core is the core itself.
    @usableFromInline
    package final var core: LoopCore { @inline(__always) get { unsafe reference.takeUnretainedValue() } }

    /// Calls `body` with the core, without retaining the core. Costs less than `core`.
    @inlinable @inline(__always)
    package final func withCore<Result>(_ body: (LoopCore) throws -> Result) rethrows -> Result {
        try unsafe reference.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
    }

    /// Creates the object that a user holds. The object owns the core.
    package init(owning core: LoopCore) { unsafe reference = Unmanaged.passRetained(core) }

    /// Creates the part of a core that it inherits. The core refers to itself.
    init(asCore _: Void) {
        unsafe reference = Unmanaged.passUnretained(unsafeDowncast(self, to: LoopCore.self))
    }

    deinit {
        guard core !== self else { return }
        core.ownerIsGone()
        unsafe reference.release()
    }

    /// Whether the calling code is on the loop's thread. May be read on any thread.
    public final var isCurrent: Bool {
        // Inlined, since threads that submit jobs ask this each time and get the answer at once.
        @inline(__always) get { withCore { $0.isCaller } }
    }

    /// The highest number of ready callbacks that one turn runs. After them, I/O, timers and a host get their
    /// turn. The same limit holds for jobs from other threads. The default is 4096.
    ///
    /// A new value takes effect in the next turn. Callbacks and jobs that are left over run in the turn after that,
    /// in their order. With a smaller number, endless work holds up everything else for a shorter time, but the loop
    /// looks for I/O more often. Traps if the number is less than 1.
    public var turnBudget: Int {
        get { core.turnState.budget }
        set {
            core.checkThread()
            if newValue < 1 { Misuse.size(newValue, of: "A turn's budget", atLeast: 1) }
            core.turnState.budget = newValue
        }
    }

    /// A handler for failures that nothing sees. It is called at the end of the turn, once for each future that
    /// failed and was released before anything saw its failure.
    ///
    /// If this property is `nil`, as in a new loop, the loop prints at most ten lines a second to standard
    /// error. Each line names the function that has failed and its error. If the library was built for
    /// debugging, the line also names the source line that made the future.
    ///
    /// The handler is released when the loop has been shut down, or when the future of ``detach()`` completes. It is
    /// never called afterwards: later failures are printed.
    public var onUnhandledFailure: ((any Error) -> Void)? {
        get { core.unhandled.handler }
        set {
            core.checkThread()
            if !core.unhandled.isOver { core.unhandled.handler = newValue }
        }
    }
}

extension EventLoop: Hashable {
    /// Returns whether `a` and `b` are the same loop, no matter where you got them.
    public static func == (a: EventLoop, b: EventLoop) -> Bool { a.core === b.core }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(core)) }
}
