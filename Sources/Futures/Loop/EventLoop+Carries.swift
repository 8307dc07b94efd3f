internal import Dispatch

extension EventLoop {
    /// Makes each closure that is registered on this loop see the value that `local` has at the registration. A
    /// closure that is registered without a value sees none, wherever it runs.
    ///
    /// Call this function before you register the closures, such as right after you have made the loop. A second
    /// call for the same task-local changes nothing. Traps on a thread other than the loop's thread.
    ///
    /// ```swift
    /// enum Request { @TaskLocal static var id: String? }
    ///
    /// loop.carries(Request.$id)
    /// Request.$id.withValue("r-17") {
    ///     loop.sleep(for: .seconds(1)).whenComplete { _ in print(Request.id ?? "none") }    // r-17
    /// }
    /// ```
    @inlinable
    public func carries<Value>(_ local: TaskLocal<Value?>) {
        core.carry(
            local,
            { choice, next in
                if choice != .none, let value = local.get() {
                    return CarriedValues { body in local.withValue(value) { next.set(during: body) } }
                }
                guard choice != .set else { return next }
                return CarriedValues { body in
                    guard local.get() != nil else { return next.set(during: body) }
                    local.withValue(nil) { next.set(during: body) }
                }
            },
            { original, place, next in
                guard let value = unsafe place.assumingMemoryBound(to: Value?.self).pointee else {
                    return nil
                }
                return CarryingBehavior(original, local, value, next).behavior
            })
    }

    /// Makes each closure that is registered on this loop see the value that `local` has at the registration. A
    /// closure that is registered where no value was set sees the default.
    ///
    /// Everything else is the same as for an optional task-local.
    @inlinable
    public func carries<Value>(_ local: TaskLocal<Value>) {
        let original = core.withoutTaskLocals { local.get() }
        core.carry(
            local,
            { choice, next in
                let value = choice == .none ? original : local.get()
                return CarriedValues { body in local.withValue(value) { next.set(during: body) } }
            }, nil)
    }
}

extension LoopCore {
    /// Calls `body` on a thread where no task-local has a value, and waits for it.
    @usableFromInline
    func withoutTaskLocals<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let answer = BlockingValue<Value>()
        DispatchQueue(label: "task-locals").async { answer.set(body()) }
        return answer.wait()!
    }

    @usableFromInline
    @safe
    func carry(
        _ local: any AnyObject & Sendable, _ take: @escaping CarriedLocal.Take, _ behave: CarriedLocal.Behave?
    ) {
        checkThread()
        carriedLocals.add(local, take, behave)
        contexts.carries = true
    }

    /// The values for a closure that the loop may call within other closures: it sees nothing of theirs.
    package var carriedValues: CarriedValues { carriedLocals.values(.all) }

    /// Returns `handler`, which then sees the values that the calling code sees, and nothing of the closures within
    /// which it is called.
    package func carrying<each Input, Output>(
        _ handler: @escaping (repeat each Input) -> Output
    ) -> (repeat each Input) -> Output {
        let values = carriedValues
        if values.isEmpty { return handler }
        return { (input: repeat each Input) in values.during { handler(repeat each input) } }
    }
}
