/// An object that runs a closure once: when it is disposed of or, at the latest, when it is released.
///
/// In an optimized build a local variable is released after its last use, not at the end of its scope: keep it where
/// its owner lives, in a ``DisposeBag`` for example.
public final class Disposer: Disposable {
    private var action: (() -> Void)?

    /// Creates a disposer that runs `action`. Without an action it does nothing.
    public init(_ action: (() -> Void)? = nil) { self.action = action }

    deinit { dispose() }

    /// Whether the closure has been run.
    public var isDisposed: Bool { action == nil }

    /// Runs the closure, unless it has run or is running, and releases it.
    public func dispose() {
        let action = action
        self.action = nil
        action?()
    }
}

@available(
    *, unavailable, message: "A disposer belongs to its loop's thread; go there with loop.execute { … }."
)
extension Disposer: Sendable {}

extension Future {
    /// Returns a disposer that asks this future to cancel, as ``cancel()`` does, when it is disposed of or released. It
    /// does not keep the future alive.
    ///
    /// Dropping a future does not cancel it. Keep the disposer where the wish for the outcome lives.
    ///
    /// ```swift
    /// let avatar = fetch("avatar")
    /// let disposer = avatar.cancelOnDeinit()    // A property of the object that shows the avatar.
    /// ```
    public func cancelOnDeinit() -> Disposer {
        Disposer { [weak cell] in _ = cell?.requestCancellation() }
    }
}
