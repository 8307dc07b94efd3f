extension Result where Failure == any Error {
    /// Returns the error after a clean-up that has failed with `cleanUpError`. If this outcome is a failure,
    /// the returned error holds both errors. In any other case, returns `cleanUpError`.
    @usableFromInline
    func thrown(byCleanUp cleanUpError: any Error) -> any Error {
        guard let error = failure else { return cleanUpError }
        return CleanUpError(error, cleanUpError: cleanUpError)
    }

    /// Returns this outcome if `cleanUp` succeeds, and the error of `thrown(byCleanUp:)` if `cleanUp` fails.
    func after<Ignored>(_ cleanUp: FutureCompletion<Ignored>) -> FutureCompletion<Success> {
        guard failure != nil else { return cleanUp.map { _ in try get() } }
        let end = { (cleanUp: Result<Ignored, any Error>) in
            if let error = cleanUp.thrownError { throw thrown(byCleanUp: error) }
            return try get()
        }
        guard case .using(let future) = cleanUp else { return Result { try end(cleanUp.result!) }.completion }
        return .using(future.mapResult(end))
    }
}

extension Completing {
    /// Returns the completion that `body` returns, or a failure with the error that `body` throws.
    static func completion(catching body: () throws -> Self) -> FutureCompletion<Value> {
        do { return try body().completion } catch { return .failure(error) }
    }
}
