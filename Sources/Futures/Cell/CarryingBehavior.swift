/// The behavior of a cell whose step carries values of task-locals: the behavior that the cell was made with, and the
/// values that its step sees.
///
/// Most loops carry one task-local. Its value lies here, in code that is inlined into users' code, and not in a closure: a
/// step that carries a value then costs a third less. `Value` is the optional type, since the runtime would have to look it up
/// if it were not the parameter itself.
@usableFromInline
@safe
final class CarryingBehavior<Value: Sendable & ExpressibleByNilLiteral> {
    @usableFromInline let original: Cell.Behavior
    /// The task-local of `value`, which the loop keeps.
    @usableFromInline let local: Unmanaged<TaskLocal<Value>>?
    /// The values of other task-locals. Empty after the step has run or was dropped: the cell may live on.
    @usableFromInline @exclusivity(unchecked) var others: CarriedValues
    /// `nil` if there is none, and after the step has run or was dropped.
    @usableFromInline @exclusivity(unchecked) var value: Value

    /// Takes over the reference of the cell to the context of `original`.
    @inlinable
    init(_ original: Cell.Behavior, _ local: TaskLocal<Value>?, _ value: Value, _ others: CarriedValues) {
        self.original = original
        unsafe self.local = local.map { unsafe .passUnretained($0) }
        unsafe self.value = value
        unsafe self.others = others
    }

    deinit { original.release() }

    @inlinable
    func perform(_ operation: Cell.Operation, _ cell: CellPointer, _ source: CellPointer) {
        guard operation == .run else { return performWithoutValues(operation, cell, source) }
        guard let local = unsafe local else { return run(cell, source) }
        let value = unsafe exchange(&self.value, with: nil)
        unsafe local._withUnsafeGuaranteedRef { $0.withValue(value) { run(cell, source) } }
    }

    @usableFromInline
    func run(_ cell: CellPointer, _ source: CellPointer) {
        if unsafe others.isEmpty { return original(.run, cell, source) }
        unsafe exchange(&others, with: CarriedValues(nil)).set { original(.run, cell, source) }
    }

    @usableFromInline
    func performWithoutValues(_ operation: Cell.Operation, _ cell: CellPointer, _ source: CellPointer) {
        original(operation, cell, source)
        if operation == .dropStep { unsafe (value, others) = (nil, CarriedValues(nil)) }
    }

    /// The behavior that this object makes. Each is for one cell.
    @inlinable
    var behavior: Cell.Behavior {
        // Not the method itself: a reference to it would hold the object once more during each call.
        Cell.Behavior { self.perform($0, $1, $2) }
    }
}

extension CellPointer {
    /// Makes the step of this cell see the values of task-locals that the calling code sees. A step that runs at once
    /// runs within other closures, and sees nothing of theirs.
    @inline(never)
    func takeValues() {
        guard flags.contains(.hasStep), !interest.isDisjoint(with: .all) else { return }
        withLoop { loop in
            if interest.context != .immediate {
                if let carrying = loop.carriedLocals.behavior(behavior) { behavior = carrying }
            } else if case let values = loop.carriedLocals.values(.all), !values.isEmpty {
                behavior = CarryingBehavior<Never?>(behavior, nil, nil, values).behavior
            }
        }
    }
}
