import Futures
import Testing

/// Runs the loop until `future` completes, which is expected to be with `value`.
func expect<Value: Equatable>(
    _ future: Future<Value>, succeedsWith value: Value, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(try future.loop.run(until: future) == value, sourceLocation: sourceLocation)
}

/// Runs the loop until `future` completes, which is expected to be with `error`.
func expect<Value>(
    _ future: Future<Value>, failsWith error: some Error & Equatable,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(throws: error, sourceLocation: sourceLocation) { try future.loop.run(until: future) }
}

/// Runs the loop until `future` completes, which is expected to be as cancelled.
func expectCancelled<Value>(_ future: Future<Value>, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(throws: CancellationError.self, sourceLocation: sourceLocation) {
        try future.loop.run(until: future)
    }
}
