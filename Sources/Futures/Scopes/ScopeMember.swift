/// An object that can be a member of a ``FutureScope``, such as a server, a connection, a timer or a child process.
///
/// A type of your own can conform, too: an object that consists of several parts can return the membership of a scope
/// that contains these parts.
///
/// ```swift
/// struct Metrics: ScopeMember {
///     let scope: FutureScope
///     var membership: ScopeMembership { scope.membership }
/// }
/// ```
public protocol ScopeMember {
    /// The closures by which a scope ends this object, and the future of its end.
    var membership: ScopeMembership { get }
}

/// The closures by which a ``FutureScope`` ends a member, and the future of the member's end.
public struct ScopeMembership {
    let ended: Future<Void>
    let cancel: () -> Void
    let drain: ((_ grace: Duration) -> Void)?
    let release: (() -> Void)?
    /// Whether an error with which the object has ended is one that those who use it have got, too. The scope does not report
    /// such an error if it has failed before.
    package var isTold: (_ error: any Error) -> Bool = { _ in false }
    /// The object, for a snapshot.
    var object: Any?

    /// Creates a membership. The member has ended when `ended` completes, and has failed if `ended` fails. A scope calls
    /// `cancel` when it is cancelled: the member then ends as soon as it can. A scope that drains calls `drain` with the
    /// time that is left: the member then finishes its work. Without `drain`, the scope waits for the end of the member.
    ///
    /// With `release`, the member is a resource, such as a connection, that other members use. When the last member that
    /// is no resource has ended, the scope calls `release` once, and waits for the end of the resource. A scope that drains
    /// calls it also if there was no such member.
    ///
    /// The scope keeps the closures until the member has ended. They see the task-locals that the loop carries as they are
    /// now.
    public init(
        ended: Future<Void>, cancel: @escaping () -> Void, drain: ((_ grace: Duration) -> Void)? = nil,
        release: (() -> Void)? = nil
    ) {
        let loop = ended.loop.core
        self.ended = ended
        self.cancel = loop.carrying(cancel)
        self.drain = drain.map { loop.carrying($0) }
        self.release = release.map { loop.carrying($0) }
    }
}

extension FutureScope {
    // For the streams of a loop, which have scopes of their own.

    package var isOver: Bool { members.isOver }

    /// Cancels the members except the object that ends with `spared`.
    package func cancel(sparing spared: Future<Void>) { members.cancel(sparing: spared) }

    /// Lets the members end in order. Whoever calls this cancels those that do not end.
    package func beginDraining() { members.drain(within: nil) }
}

extension ScopeMembership: ScopeMember {
    /// This membership.
    public var membership: ScopeMembership { self }
}

extension FutureScope: ScopeMember {
    /// The membership of this scope in another one.
    public var membership: ScopeMembership {
        ScopeMembership(ended: ended, cancel: { self.cancel() }, drain: { self.drain(within: $0) })
    }
}

extension ScheduledTask: ScopeMember {
    /// The membership of this work. The scope fails if the work fails. If the scope drains, the work is cancelled.
    public var membership: ScopeMembership {
        ScopeMembership(ended: future.map { _ in }, cancel: { cancel() }, drain: { _ in cancel() })
    }
}
