/// An object that runs a closure once: when you call ``dispose()``, or when the object is released, whichever
/// comes first.
///
/// In an optimized build, the object in a local variable is released after the last use of the variable, not
/// at the end of the scope. Therefore store the disposer in a property, or in a ``DisposeBag``.
public final class Disposer: Disposable {
    private var action: (() -> Void)?

    /// Creates a disposer that runs `action`. If `action` is `nil`, the disposer does nothing.
    public init(_ action: (() -> Void)? = nil) { self.action = action }

    deinit { dispose() }

    /// Whether the closure has started to run. The value is also `true` if there is no closure.
    public var isDisposed: Bool { action == nil }

    /// Runs the closure and releases it. Does nothing if the closure has run or is running.
    public func dispose() {
        action.take()?()
    }
}

@available(
    *, unavailable, message: "A disposer belongs to its loop's thread; go there with loop.execute { … }."
)
extension Disposer: Sendable {}

extension Future {
    /// Returns a disposer for this future. When the disposer is released, or when you call
    /// ``Disposer/dispose()``, this future is asked to cancel, as ``cancel()`` does. The disposer does not
    /// keep this future alive.
    ///
    /// Store the disposer in the object that needs the outcome. The future is then asked to cancel when that
    /// object is released.
    ///
    /// ```swift
    /// let avatar = fetch("avatar")
    /// let disposer = avatar.cancelOnDeinit()    // A property of the object that shows the avatar.
    /// ```
    public func cancelOnDeinit() -> Disposer { Disposer { [weak cell] in _ = cell?.requestCancellation() } }
}
