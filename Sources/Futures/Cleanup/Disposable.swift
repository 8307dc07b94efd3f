/// An object that can be ended, at most once.
public protocol Disposable: AnyObject {
    /// Ends the object. Later calls do nothing.
    func dispose()
}

extension Disposable {
    /// Disposes of the object when `delay` has passed, and keeps the object alive until then.
    @discardableResult
    public func dispose(after delay: Duration, on loop: EventLoop) -> ScheduledTask<Void> {
        loop.schedule(after: delay) { self.dispose() }
    }
}
