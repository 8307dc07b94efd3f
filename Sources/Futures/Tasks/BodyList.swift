internal import CRuntime

/// The bodies of a loop that have not ended.
final class BodyList {
    @exclusivity(unchecked) private var bodies: [UInt: Body] = [:]
    /// The body in the list that has run last.
    @exclusivity(unchecked) private unowned(unsafe) var last: Body?
    var count: Int { unsafe bodies.count }

    func add(_ body: Body, of task: Task<Void, Never>) {
        body.task = unsafe unsafeBitCast(task, to: UInt.self)
        unsafe bodies[body.task] = body
    }

    func remove(_ body: Body) {
        unsafe last = nil
        unsafe bodies[body.task] = nil
    }

    /// The names of the bodies, each with the number of bodies of that name.
    var names: [String: Int] { unsafe bodies.values.reduce(into: [:]) { $0[$1.name, default: 0] += 1 } }

    /// Notes that the task of `body` continues.
    func hasGoneOn(_ body: Body) { unsafe last = body }

    /// The body of the task that runs now, or `nil` if no body's task runs.
    var current: Body? {
        let task = unsafe UInt(bitPattern: swift_task_getCurrent())
        if let last = unsafe last, last.task == task { return last }
        guard task != 0, let body = unsafe bodies[task] else { return nil }
        unsafe last = body
        return body
    }
}
