/// An object that receives the outcomes of the inputs of a group. The group keeps it until the group ends.
@usableFromInline
protocol ArrivalReceiver: AnyObject {
    /// Keeps the outcome of `source`, the input `index`. Returns whether the group ends now, and does not end
    /// it: the receiver might be released during this call.
    func keep(_ source: CellPointer, at index: Int) -> Bool
    /// Ends the group after `keep` has returned `true`.
    func end(with source: CellPointer, at index: Int)
}

/// The step of a member of a group: who receives the outcome of the input, and the index of the input. It
/// retains nothing: a group that ends drops the steps of its members.
///
/// It is not generic. Only the behavior knows the type of the inputs, and the members of a group share it.
@safe @usableFromInline
struct MemberStep {
    @usableFromInline let receiver: Unmanaged<AnyObject>
    @usableFromInline let index: Int

    init(_ receiver: AnyObject, _ index: Int) {
        unsafe self.receiver = .passUnretained(receiver)
        self.index = index
    }
}

extension ArrivalReceiver {
    /// The behavior of members whose outcomes an object of this type receives.
    @inlinable @inline(__always)
    static var memberBehavior: Cell.Behavior {
        Cell.Behavior { operation, cell, source in
            guard case .run = operation else { return }
            let step = cell.takePayload(as: MemberStep.self)
            let isEnd = unsafe step.receiver._withUnsafeGuaranteedRef { receiver in
                unsafe unsafeDowncast(receiver, to: Self.self).keep(source, at: step.index)
            }
            guard isEnd else { return }
            let receiver = unsafe step.receiver.takeUnretainedValue()
            unsafe unsafeDowncast(receiver, to: Self.self).end(with: source, at: step.index)
        }
    }
}

/// A receiver that calls a closure with each input that arrives.
@usableFromInline
final class ArrivalListener: ArrivalReceiver {
    private let arrived: (_ source: CellPointer, _ index: Int) -> Void

    @usableFromInline
    init(_ arrived: @escaping (_ source: CellPointer, _ index: Int) -> Void) { self.arrived = arrived }

    // The closure may end the group with any input.
    @usableFromInline
    func keep(_ source: CellPointer, at index: Int) -> Bool { true }

    @usableFromInline
    func end(with source: CellPointer, at index: Int) { arrived(source, index) }
}

/// The values of a group that have arrived so far.
@usableFromInline
final class ArrivedValues<Value> {
    // Unchecked, since each change would be checked at run time. No change runs code of others.
    @exclusivity(unchecked) @usableFromInline var values: [Value?]
    @exclusivity(unchecked) @usableFromInline var missing: Int

    @inlinable
    init(_ count: Int) {
        unsafe values = Array(repeating: nil, count: count)
        unsafe missing = count
    }

    /// Adds `value`. Returns whether no value is missing any more.
    @inlinable
    func add(_ value: Value, at index: Int) -> Bool {
        unsafe values[index] = .some(value)
        unsafe missing -= 1
        return unsafe missing == 0
    }

    /// All values, none of which is missing.
    @inlinable var all: [Value] { unsafe values.map { $0! } }
}
