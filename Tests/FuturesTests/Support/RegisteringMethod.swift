import Futures

/// A future's outcome, to be had from a promise.
enum Outcome: CaseIterable {
    case success, failure, cancellation

    func complete(_ promise: Promise<Int>) {
        switch self {
        case .success: promise.succeed(1)
        case .failure: promise.fail(Failure(2))
        case .cancellation: promise.cancel()
        }
    }
}

/// Each way to register a callback on a future.
enum RegisteringMethod: String, CaseIterable, Codable {
    case map, filter, mapResult, flatMap, flatMapResult, recover, flatMapError, mapError
    case flatMapCompleting, flatMapResultCompleting, flatMapErrorCompleting
    case tap, tapError, tapResult, always, flatTap, flatTapError, flatTapResult, flatAlways
    case tapCancelled, tapErrorOrCancelled, recoverCancelled, flatMapCancelled
    case compactMap, delay
    case whenComplete, whenSuccess, whenFailure, whenCancelled

    /// The outcomes that its callback is called for.
    var wanted: Set<Outcome> {
        switch self {
        case .map, .filter, .flatMap, .flatMapCompleting, .compactMap, .tap, .flatTap, .whenSuccess:
            [.success]
        case .recover, .flatMapError, .flatMapErrorCompleting, .mapError, .tapError, .flatTapError,
            .whenFailure:
            [.failure]
        case .mapResult, .flatMapResult, .flatMapResultCompleting, .tapResult, .flatTapResult, .always,
            .flatAlways, .whenComplete:
            Set(Outcome.allCases)
        case .tapCancelled, .recoverCancelled, .flatMapCancelled, .whenCancelled: [.cancellation]
        case .tapErrorOrCancelled: [.failure, .cancellation]
        case .delay: [.success, .failure]
        }
    }

    /// Whether its callback runs when a token takes the registration back.
    var hearsOfTokens: Bool {
        switch self {
        case .always, .flatAlways, .tapCancelled, .tapErrorOrCancelled, .whenComplete, .whenCancelled: true
        default: false
        }
    }

    /// Registers `body` and returns the derived future, if there is one.
    func register(
        on future: Future<Int>, context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping () -> Void
    ) -> Future<Int>? {
        let loop = future.loop
        func value<Input>(_: Input) -> Int {
            body()
            return 1
        }
        func next<Input>(_: Input) -> Future<Int> {
            body()
            return loop.succeeded(1)
        }
        func result<Input>(_: Input) -> Result<Int, any Error> {
            body()
            return .success(1)
        }
        func see<Input>(_: Input) { body() }
        switch self {
        case .map: return future.map(on: context, token: token, value)
        case .filter: return future.filter(on: context, token: token) { value($0) == 1 }
        case .mapResult: return future.mapResult(on: context, token: token, value)
        case .flatMap: return future.flatMap(on: context, token: token, next)
        case .flatMapResult: return future.flatMapResult(on: context, token: token, next)
        case .recover: return future.recover(on: context, token: token, value)
        case .flatMapError: return future.flatMapError(on: context, token: token, next)
        case .mapError: return future.mapError(on: context, token: token) { Failure(value($0)) }
        case .tap: return future.tap(on: context, token: token, see)
        case .tapError: return future.tapError(on: context, token: token, see)
        case .tapResult: return future.tapResult(on: context, token: token, see)
        case .always: return future.always(on: context, token: token, body)
        case .flatMapCompleting: return future.flatMap(on: context, token: token, result)
        case .flatMapResultCompleting: return future.flatMapResult(on: context, token: token, result)
        case .flatMapErrorCompleting: return future.flatMapError(on: context, token: token, result)
        case .flatTap: return future.flatTap(on: context, token: token, next)
        case .flatTapError: return future.flatTapError(on: context, token: token, next)
        case .flatTapResult: return future.flatTapResult(on: context, token: token, next)
        case .flatAlways: return future.flatAlways(on: context, token: token) { next(0) }
        case .tapCancelled:
            return future.tapError(including: .onlyCancellation, on: context, token: token, see)
        case .tapErrorOrCancelled:
            return future.tapError(including: .cancellation, on: context, token: token, see)
        case .recoverCancelled:
            return future.recover(including: .onlyCancellation, on: context, token: token, value)
        case .flatMapCancelled:
            return future.flatMapError(including: .onlyCancellation, on: context, token: token, next)
        case .compactMap: return future.compactMap(on: context, token: token, value)
        case .delay:
            return future.delay(on: context, token: token) { result in
                see(result)
                return nil
            }
        case .whenComplete: future.whenComplete(on: context, token: token, see)
        case .whenSuccess: future.whenSuccess(on: context, token: token, see)
        case .whenFailure: future.whenFailure(on: context, token: token, see)
        case .whenCancelled: future.whenCancelled(on: context, token: token, body)
        }
        return nil
    }
}
