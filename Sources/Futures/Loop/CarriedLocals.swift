internal import Synchronization

/// The task-locals that a loop carries.
@safe
final class CarriedLocals: @unchecked Sendable {
    // Sendable because only the loop's thread uses `list`.

    private let hasKeys = Atomic(false)
    private let shared = Locked<CarriedLocal?>(nil)
    /// The same for the loop's thread, which needs no lock. Never released before this object.
    private var list: Unmanaged<CarriedLocal>?

    /// Adds `local`, unless it is there. `take` returns its values, and `behave` a behavior
    /// with them.
    @safe
    func add(
        _ local: any AnyObject & Sendable, _ take: @escaping CarriedLocal.Take,
        _ behave: CarriedLocal.Behave?
    ) {
        let former = unsafe list?.takeUnretainedValue()
        guard former?.contains(local) != true else { return }
        let new = CarriedLocal(local, next: former, take, behave)
        unsafe list = .passUnretained(new)
        shared.withLock { $0 = new }
        hasKeys.store(true, ordering: .releasing)
    }

    /// May be read on any thread.
    var isEmpty: Bool { @inline(__always) get { !hasKeys.load(ordering: .acquiring) } }

    /// Returns the values on the loop's thread.
    func values(_ choice: CarriedLocal.Choice) -> CarriedValues {
        unsafe list?._withUnsafeGuaranteedRef { $0.values(choice) } ?? CarriedValues(nil)
    }

    /// Returns `original` with the values that the calling code sees on the loop's thread, or `nil` if it sees none.
    @inline(__always)
    func behavior(_ original: Cell.Behavior) -> Cell.Behavior? {
        unsafe list?._withUnsafeGuaranteedRef { $0.behavior(original) } ?? nil
    }

    /// Calls `body` without the values that the calling code sees: who runs a loop gives its callbacks none.
    @inline(__always)
    func withoutValues(_ body: () -> Void) { if isEmpty { body() } else { values(.none).set(during: body) } }

    /// Returns the values on any thread.
    func valuesElsewhere(_ choice: CarriedLocal.Choice) -> CarriedValues {
        isEmpty ? CarriedValues(nil) : shared.withLock { $0! }.values(choice)
    }
}
