extension Future {
    /// Passes the outcome on. In a debug build, traps if the outcome is a failure. Cancellation does not
    /// count as a failure.
    public func assertSuccess(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tapError { assertionFailure(Misuse.unexpectedFailure($0), file: file, line: line) }
    }

    /// Passes the outcome on. Traps if the outcome is a failure. Cancellation does not count as a failure.
    public func preconditionSuccess(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tapError { fatalError(Misuse.unexpectedFailure($0), file: file, line: line) }
    }

    /// Passes the outcome on. In a debug build, traps if the outcome is a value.
    public func assertFailure(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tap { assertionFailure(Misuse.unexpectedSuccess($0), file: file, line: line) }
    }

    /// Passes the outcome on. Traps if the outcome is a value.
    public func preconditionFailure(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tap { fatalError(Misuse.unexpectedSuccess($0), file: file, line: line) }
    }
}
