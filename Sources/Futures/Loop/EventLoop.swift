/// A scheduler for one thread. It runs callbacks, timers and I/O one after another, on the thread that calls
/// ``run()``.
///
/// Futures, promises and timers belong to the loop that made them. Use them only on the thread of that loop.
/// Using them on a different thread traps. You can pass the loop object itself to any thread. Other threads
/// reach the loop by ``execute(_:)``, `run { … }`, ``wait(timeout:_:)``, ``makeRemotePromise(of:file:line:)``
/// and ``stop()``.
///
/// A new loop belongs to the thread that made it. From the first ``run()`` on, the loop belongs to the thread
/// that runs it. With the module `UVFutures`, a loop can be attached to the event loop of a host. A host is a
/// program with an event loop of its own, such as a C program or Node.js. An attached loop belongs to the
/// thread that attached it, and only the host runs the loop.
///
/// The loop lives as long as you hold the object that `EventLoop()` returned. You can also get a loop object
/// from `future.loop`, from a connection or from ``current``. Such an object does not keep the loop alive.
/// End the loop with ``shutdown()``. If you release the loop without a call of ``shutdown()``, the release
/// ends the loop in the same way: everything that is pending fails with ``FutureError/shutDown``, and all
/// handles are closed. The callbacks of the futures that fail in this way run before the release returns. If
/// they run in the `deinit` of the object that held the loop, they must capture that object with `[weak
/// self]`: `[unowned self]` traps.
///
/// If anything is still pending or open when the loop is released, a debug build reports this on standard
/// error. The release then traps on every thread other than the loop's thread.
///
/// A closure that is registered on the loop and captures the loop object keeps the loop alive. To avoid this,
/// do not capture the loop object: in the closure, use the loop of a future or of a connection. Compare loops
/// with `==`.
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
        // Of these two objects, not of the loop: `!==` compares loops.
        guard ObjectIdentifier(core) != ObjectIdentifier(self) else { return }
        core.ownerIsGone()
        unsafe reference.release()
    }

    /// Whether the calling code runs on the loop's thread. May be read on any thread.
    public final var isCurrent: Bool {
        // Inlined, since threads that submit jobs ask this each time and get the answer at once.
        @inline(__always) get { withCore { $0.isCaller } }
    }

    /// The highest number of ready callbacks that the loop runs before it looks for I/O and timers again.
    /// Jobs from other threads are counted separately, with the same limit. The default is 4096. A loop that
    /// is attached to the event loop of a host, such as Node.js, returns to the host after this number of
    /// callbacks.
    ///
    /// A turn that has taken half a millisecond ends earlier: the loop looks at the clock after 16 callbacks, and then after as
    /// many as have run, up to 64. On a virtual loop, no time passes within a turn.
    ///
    /// If more callbacks or jobs are ready, the rest keep their order, and run after the loop has looked for
    /// I/O and timers. With a smaller number, I/O and timers wait for a shorter time. But the loop then looks
    /// for I/O more often, which takes time. A new value takes effect the next time that the loop begins to
    /// run ready callbacks. Traps if the number is less than 1.
    public var turnBudget: Int {
        get { core.turnState.budget }
        set {
            core.checkThread()
            if newValue < 1 { Misuse.size(newValue, of: "A turn's budget", atLeast: 1) }
            core.turnState.budget = newValue
        }
    }

    /// A handler for failures that no code has handled. The loop calls the handler once for each future that
    /// failed and was released before any code handled its failure. The call comes after the ready callbacks
    /// have run. A failed future that is not released is reported when the loop is shut down, or when the
    /// process exits on the loop's thread.
    ///
    /// If this property is `nil`, as in a new loop, the loop prints the failures to standard error, at most
    /// ten lines a second. Each line gives the error and the name of the function that made the future. In a
    /// debug build of the library, the text also names the source line that made the future.
    ///
    /// The loop releases the handler at the end of ``shutdown()``, or when the future of ``detach()``
    /// completes. Failures that come later are printed.
    public var onUnhandledFailure: ((any Error) -> Void)? {
        get { core.unhandled.handler }
        set {
            core.checkThread()
            guard !core.unhandled.isOver else { return }
            withExtendedLifetime(exchange(&core.unhandled.handler, with: newValue)) {}
        }
    }
}

extension EventLoop: Hashable {
    /// Returns whether `a` and `b` are the same loop. For example, a loop and the `loop` of one of its
    /// futures are equal.
    public static func == (a: EventLoop, b: EventLoop) -> Bool { a === b }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(core)) }
}

/// Returns whether `a` and `b` are the same loop, as `==` does, or both `nil`. A loop is not one object: its owner and
/// ``EventLoop/current`` have two.
public func === (a: EventLoop?, b: EventLoop?) -> Bool {
    a.map { ObjectIdentifier($0.core) } == b.map { ObjectIdentifier($0.core) }
}

/// Returns whether `a` and `b` are two loops, or one of them is `nil`.
public func !== (a: EventLoop?, b: EventLoop?) -> Bool { !(a === b) }
