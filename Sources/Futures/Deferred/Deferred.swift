/// Work that is not done before it is started, and done anew each time that it is.
///
/// A ``Future`` is work in progress or its outcome; a `Deferred` is the recipe. What is derived from one is a longer
/// recipe, so that repeating the end of a chain repeats all of it. It keeps its closures as long as it lives, and no
/// outcome.
public struct Deferred<Value> {
    private let recipe: (LoopCore) throws -> Future<Value>

    /// Work that is started by `recipe`, whose error, if it throws, is the outcome.
    public init(_ recipe: @escaping () throws -> Future<Value>) {
        self.init { _ in try recipe() }
    }

    /// Work that is started by `operation`, and ends when that completes the promise it gets, or throws.
    public init(operation: @escaping (Promise<Value>) throws -> Void) {
        self.init { loop in
            let promise = loop.makePromise(of: Value.self)
            do { try operation(promise) } catch { promise.fail(error) }
            return promise.future
        }
    }

    init(_ recipe: @escaping (LoopCore) throws -> Future<Value>) { self.recipe = recipe }

    /// What has `result` as its outcome each time.
    public static func completed(_ result: Result<Value, any Error>) -> Deferred {
        Deferred { loop in loop.completed(result) }
    }

    /// What succeeds with `value` each time.
    public static func succeeded(_ value: Value) -> Deferred { completed(.success(value)) }

    /// What fails with `error` each time.
    public static func failed(_ error: any Error) -> Deferred { completed(.failure(error)) }

    /// Starts the work, on `loop` or else on the loop whose callback this is, and returns the future of its outcome.
    ///
    /// Each call starts it again. Cancelling the future, or `token`, reaches the work; with a token that is cancelled
    /// already it is not started. Traps if there is neither loop, and if the recipe returns a future of another one.
    public func start(on loop: EventLoop? = nil, token: CancellationToken = .none) -> Future<Value> {
        guard let loop = (loop ?? .current)?.core else { Misuse.noLoop() }
        loop.checkThread()
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        do {
            let future = try recipe(loop)
            guard future.cell.pointer.isOf(loop) else { Misuse.foreignFuture() }
            return future.until(token)
        } catch {
            return loop.failed(error)
        }
    }

    /// Starts the work as `start(on:token:)` does, and calls `completion` with its outcome.
    public func start(
        on loop: EventLoop? = nil, token: CancellationToken = .none,
        _ completion: @escaping (Result<Value, any Error>) -> Void
    ) {
        start(on: loop, token: token).whenComplete(completion)
    }
}

@available(*, unavailable, message: "A recipe makes futures of one loop; go there with loop.execute { … }.")
extension Deferred: Sendable {}
