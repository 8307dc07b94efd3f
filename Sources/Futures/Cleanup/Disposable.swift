/// An object with work or resources that ``dispose()`` ends, once.
public protocol Disposable: AnyObject {
    /// Ends the work of the object or frees its resources. Further calls do nothing.
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
