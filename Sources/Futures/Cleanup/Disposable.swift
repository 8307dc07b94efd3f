/// An object that you can end with ``dispose()``, for example to stop work or to free resources.
public protocol Disposable: AnyObject {
    /// Ends the object. Only the first call has an effect.
    func dispose()
}

extension Disposable {
    /// Calls ``dispose()`` when `delay` has passed. The object stays alive until then. Cancelling the
    /// returned task prevents the call.
    @discardableResult
    public func dispose(after delay: Duration, on loop: EventLoop) -> ScheduledTask<Void> {
        loop.schedule(after: delay) { self.dispose() }
    }
}
