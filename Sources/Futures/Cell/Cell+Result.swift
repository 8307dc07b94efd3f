extension Cell {
    /// Declares that the value is a `Result`. If that `Result` is a failure and nothing handles it, it is
    /// reported.
    func holdResult() {
        let root = checkedRoot
        root.flags.remove(.hasTrivialValue)
        root.flags.insert(.holdsResult)
    }
}

extension CellPointer {
    @usableFromInline @inline(never)
    func reportFailure<Value>(in _: Value.Type) {
        if let error = (readPayload(as: Value.self) as? any Fallible)?.thrownError { reportUnhandled(error) }
    }
}

private protocol Fallible {
    var thrownError: (any Error)? { get }
}

extension Result: Fallible {
    /// The error that `get()` throws, or `nil` if this is a success.
    package var thrownError: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
