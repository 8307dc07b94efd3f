/// Work that runs only when it is started, and runs anew at each start.
///
/// A ``Future`` is work in progress or its outcome. A `Deferred` is the recipe. Deriving from one makes a longer
/// recipe, so repeating the end of a chain repeats all of it. It keeps its closures as long as it lives, and no
/// outcome.
public struct Deferred<Value> {
    private let recipe: (LoopCore) throws -> Future<Value>

    /// Creates work that `recipe` starts. If `recipe` throws, its error is the outcome.
    ///
    /// ```swift
    /// let index = Deferred { fetch("index") }
    /// let (now, again) = (index.start(on: loop), index.start(on: loop))    // Fetches twice.
    /// ```
    public init(_ recipe: @escaping () throws -> Future<Value>) {
        self.init { _ in try recipe() }
    }

    /// Creates work that `operation` starts. It ends when `operation` completes the promise it gets, or throws.
    ///
    /// ```swift
    /// let index = Deferred<Data> { promise in download("index", completion: promise.resolve) }
    /// ```
    public init(operation: @escaping (Promise<Value>) throws -> Void) {
        self.init { loop in
            let promise = loop.makePromise(of: Value.self)
            do { try operation(promise) } catch { promise.fail(error) }
            return promise.future
        }
    }

    init(_ recipe: @escaping (LoopCore) throws -> Future<Value>) { self.recipe = recipe }

    /// Returns work that completes with `result` each time.
    public static func completed(_ result: Result<Value, any Error>) -> Deferred {
        Deferred { loop in loop.completed(result) }
    }

    /// Starts the work and completes with its outcome. It runs on `loop`, or else on the loop that runs the current
    /// callback.
    ///
    /// Each call starts it again. Cancelling the future, or `token`, reaches the work. With a token that is cancelled
    /// already, the work is not started. Traps if there is neither loop, and if the recipe returns a future of
    /// another one.
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
}

@available(*, unavailable, message: "A recipe makes futures of one loop; go there with loop.execute { … }.")
extension Deferred: Sendable {}
