/// An object that can be ended, at most once.
public protocol Disposable: AnyObject {
    /// Ends the object. Later calls do nothing.
    func dispose()
}

extension Disposable {
    /// Calls ``dispose()`` when `delay` has passed, and keeps the object alive until then. Cancelling the
    /// returned task prevents the call.
    @discardableResult
    public func dispose(after delay: Duration, on loop: EventLoop) -> ScheduledTask<Void> {
        loop.schedule(after: delay) { self.dispose() }
    }
}
