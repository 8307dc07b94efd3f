import Futures
import Testing

/// Errors that typed futures of tests fail with: of two types, one of which is made of the other.
enum Refusal: Error, Hashable {
    case refused
    case tooLate
}

struct Refused: Error, Hashable, CustomStringConvertible {
    let reason: Refusal

    init(_ reason: Refusal) { self.reason = reason }

    var description: String { "Refused(\(reason))" }
}

/// Runs the loop until `future` completes, which is expected to be as `description` says.
func expect<Value, Failure>(
    _ future: TypedFuture<Value, Failure>, completesAs description: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    _ = try future.loop.run(until: future.erased.mapResult { _ in })
    #expect("\(future)" == "TypedFuture(\(description))", sourceLocation: sourceLocation)
}
