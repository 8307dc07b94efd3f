/// An error that holds several errors. For example, `Future.all` with `failFast: false` fails with this error
/// if several of its futures have failed.
public struct AggregateError: Error {
    /// The errors. `Future.all` and `Future.firstSuccess` put them in the order of their `futures`, and not
    /// in the order in which the futures failed.
    public private(set) var errors: [any Error]

    public init(_ errors: [any Error] = []) { self.errors = errors }

    /// Adds `error` at the end of ``errors``.
    public mutating func add(_ error: any Error) { errors.append(error) }
}

extension AggregateError: CustomStringConvertible {
    /// A text like `2 errors: …; …`. The text has at most the first eight errors.
    public var description: String { "\(errors.count) errors: \(errors.listed)" }
}

extension Collection {
    /// The elements in one line for a log: the first eight, then the number of the remaining ones.
    package var listed: String {
        let most = 8
        let rest = count > most ? ["and \(count - most) more"] : []
        return (prefix(most).map { "\($0)" } + rest).joined(separator: "; ")
    }
}

extension Result where Failure == any Error {
    /// The error. `nil` for a value and for cancellation.
    @usableFromInline
    var failure: (any Error)? {
        guard case .failure(let error) = self, !error.isCancellation else { return nil }
        return error
    }
}
