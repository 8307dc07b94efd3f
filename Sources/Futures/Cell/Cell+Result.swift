extension Cell {
    /// Makes a failure within the value, a `Result`, count as a failure that somebody has to hear of.
    func holdResult() {
        let root = checkedRoot
        root.flags.remove(.hasTrivialValue)
        root.flags.insert(.holdsResult)
    }
}

extension CellPointer {
    @usableFromInline @inline(never)
    func reportFailure<Value>(in _: Value.Type) {
        guard let result = readPayload(as: Value.self) as? any Fallible, let error = result.reason else {
            return
        }
        reportUnhandled(error)
    }
}

private protocol Fallible {
    var reason: (any Error)? { get }
}

extension Result: Fallible {
    fileprivate var reason: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
