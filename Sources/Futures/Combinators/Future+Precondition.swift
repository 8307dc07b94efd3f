extension Future {
    /// A future with this outcome. Traps, in debug builds, if that is a failure. Cancellation is none.
    public func assertSuccess(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tapError { assertionFailure(Misuse.unexpectedFailure($0), file: file, line: line) }
    }

    /// A future with this outcome. Traps if that is a failure. Cancellation is none.
    public func preconditionSuccess(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tapError { fatalError(Misuse.unexpectedFailure($0), file: file, line: line) }
    }

    /// A future with this outcome. Traps, in debug builds, if that is a value.
    public func assertFailure(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tap { assertionFailure(Misuse.unexpectedSuccess($0), file: file, line: line) }
    }

    /// A future with this outcome. Traps if that is a value.
    public func preconditionFailure(file: StaticString = #fileID, line: UInt = #line) -> Future<Value> {
        tap { fatalError(Misuse.unexpectedSuccess($0), file: file, line: line) }
    }
}
