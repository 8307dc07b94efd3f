internal import CFuturesRuntime

/// A task-local that the closures of a loop carry, and those that were named before it.
@usableFromInline
@safe
final class CarriedLocal: Sendable {
    /// Which values are taken.
    @usableFromInline
    enum Choice: Sendable {
        /// Those that the calling code sees, as far as there are any.
        case set
        /// Those that the calling code sees. That an optional task-local is `nil` counts, too.
        case all
        /// No value of an optional task-local, whatever the calling code sees.
        case none
    }

    /// Returns the values of a task-local and those of `next`. The closure comes from code that is inlined into users'
    /// code: without the type of the value, it would cost three times as much.
    @usableFromInline
    typealias Take = @Sendable (_ choice: Choice, _ next: CarriedValues) -> CarriedValues

    /// Returns a behavior that runs as `original`, and sees the optional value that lies at `value`, and `next`. Returns
    /// `nil` if that is `nil`. Comes from inlined code for the same reason.
    @usableFromInline
    typealias Behave =
        @Sendable (
            _ original: Cell.Behavior, _ value: UnsafeRawPointer, _ next: CarriedValues
        ) -> Cell.Behavior?

    private let local: any AnyObject & Sendable
    private let next: CarriedLocal?
    private let take: Take
    private let behave: Behave?

    @safe
    init(_ local: any AnyObject & Sendable, next: CarriedLocal?, _ take: @escaping Take, _ behave: Behave?) {
        self.local = local
        self.next = next
        self.take = take
        unsafe self.behave = behave
    }

    /// Whether `other` is among these task-locals.
    func contains(_ other: AnyObject) -> Bool { local === other || next?.contains(other) == true }

    func values(_ choice: Choice) -> CarriedValues {
        let others = next?.values(choice) ?? CarriedValues(nil)
        return unsafe choice == .set && place == nil ? others : take(choice, others)
    }

    /// Returns `original` with the values that the calling code sees, or `nil` if it sees none.
    func behavior(_ original: Cell.Behavior) -> Cell.Behavior? {
        guard let value = unsafe place else { return next?.behavior(original) }
        let others = next?.values(.set) ?? CarriedValues(nil)
        if let carrying = unsafe behave?(original, value, others) { return carrying }
        return CarryingBehavior<Never?>(original, nil, nil, take(.set, others)).behavior
    }

    /// Where the value lies that the calling code sees. `nil` if none was set. Costs a third of a copy of the value.
    private var place: UnsafeRawPointer? {
        unsafe swift_task_localValueGet(Unmanaged.passUnretained(local).toOpaque())
    }
}
