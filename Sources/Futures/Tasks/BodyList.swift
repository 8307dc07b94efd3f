internal import CFuturesRuntime

/// The bodies of a loop that have not ended.
@safe
final class BodyList {
    @exclusivity(unchecked) private var bodies: [UInt: Body] = [:]
    /// The body in the list that has run last.
    @exclusivity(unchecked) private var last: Unmanaged<Body>?
    /// The number of bodies whose wait has ended with an error that the body has not thrown yet.
    private var failures = 0
    var count: Int { unsafe bodies.count }

    func add(_ body: Body, of task: Task<Void, Never>) {
        body.task = task
        unsafe bodies[body.identityOfTask] = body
    }

    func remove(_ body: Body) {
        unsafe last = nil
        unsafe bodies[body.identityOfTask] = nil
        body.task = nil
    }

    /// Stores the error with which the wait of `body` has ended.
    func end(_ body: Body, with failure: any Error) {
        unsafe body.failure = failure
        failures += 1
    }

    /// Returns the error with which the wait of the body that runs now has ended, if there is one.
    @inline(__always)
    func takeFailure() -> (any Error)? { failures == 0 ? nil : findFailure() }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    private func findFailure() -> (any Error)? {
        guard let failure = withCurrent({ unsafe $0.failure.take() }).flatMap(\.self) else { return nil }
        failures -= 1
        return failure
    }

    /// The bodies, in no order.
    var all: [Body] { unsafe Array(bodies.values) }

    /// The names of the bodies, each with the number of bodies of that name.
    var names: [String: Int] { unsafe bodies.values.reduce(into: [:]) { $0[$1.name, default: 0] += 1 } }

    /// Forgets which body has run last.
    func forgetLast() { unsafe last = nil }

    /// The name of the body that has run last. `nil` if it has ended, or if `forgetLast` was called since.
    var lastName: String? { unsafe last?._withUnsafeGuaranteedRef { $0.name } }

    /// Notes that the task of `body` continues.
    func hasGoneOn(_ body: Body) { unsafe last = .passUnretained(body) }

    /// Calls `use` with the body of the task that runs now. Returns `nil` if no body's task runs. Unlike a property,
    /// this counts no reference.
    @inline(__always)
    func withCurrent<Result>(_ use: (Body) -> Result) -> Result? {
        guard let current = unsafe current else { return nil }
        return unsafe current._withUnsafeGuaranteedRef(use)
    }

    private var current: Unmanaged<Body>? {
        let task = unsafe UInt(bitPattern: swift_task_getCurrent())
        if let last = unsafe last, unsafe last._withUnsafeGuaranteedRef({ $0.identityOfTask }) == task {
            return unsafe last
        }
        guard task != 0, let body = unsafe bodies[task] else { return nil }
        hasGoneOn(body)
        return unsafe last
    }
}

extension Body {
    fileprivate var identityOfTask: UInt { unsafe unsafeBitCast(task, to: UInt.self) }

    /// The line of the user's source code at which the body waits. `nil` if that is not known, or if it runs now.
    var placeOfWait: String? {
        guard Callers.knowsTasks, cell.loop.bodies.withCurrent({ $0 === self }) != true,
            let task = unsafe UnsafeRawPointer(bitPattern: identityOfTask)
        else { return nil }
        return unsafe Callers(ofWaiting: task).place
    }
}
