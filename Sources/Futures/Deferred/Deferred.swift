/// Work that runs only when you start it. Each start runs the work again.
///
/// A ``Future`` is work in progress, or the outcome of that work. A `Deferred` is the recipe for the work.
/// Methods like `map` return a longer recipe, so a method such as `retry` at the end of a chain repeats the
/// whole chain. A `Deferred` keeps its closures, and keeps no outcome.
public struct Deferred<Value> {
    private let recipe: (LoopCore) throws -> Future<Value>

    /// Creates work from `recipe`. `recipe` does not run now. Each start of the work calls `recipe`. The
    /// future that the start returns gets the outcome of the future that `recipe` returns. If `recipe`
    /// throws, the future that the start returns fails with that error.
    ///
    /// ```swift
    /// let index = Deferred { fetch("index") }
    /// let (now, again) = (index.start(on: loop), index.start(on: loop))    // Fetches twice.
    /// ```
    public init(_ recipe: @escaping () throws -> Future<Value>) { self.init { _ in try recipe() } }

    /// Creates work from `operation`. `operation` does not run now. Each start of the work calls `operation`
    /// with a new promise. `operation` completes this promise, during the call or later, and so completes the
    /// future that the start returns. If `operation` throws, the future that the start returns fails with
    /// that error.
    ///
    /// ```swift
    /// let index = Deferred<Data> { promise in download("index", completion: promise.resolve) }
    /// ```
    public init(operation: @escaping (Promise<Value>) throws -> Void) {
        self.init { loop in Future(on: loop, operation) }
    }

    init(_ recipe: @escaping (LoopCore) throws -> Future<Value>) { self.recipe = recipe }

    /// Returns work that needs no time: each start returns a future that has completed with `result`.
    public static func completed(_ result: Result<Value, any Error>) -> Deferred {
        Deferred { loop in loop.completed(result) }
    }

    /// Starts the work, and returns a future for the outcome of the work. The work runs on `loop`, or on
    /// ``EventLoop/current`` if `loop` is `nil`.
    ///
    /// Each call starts the work again. Cancelling the returned future or `token` asks the work to cancel. If
    /// `token` is cancelled already, the work does not start. Traps if `loop` and ``EventLoop/current`` are
    /// both `nil`. Also traps if the recipe returns a future of a different loop.
    public func start(on loop: EventLoop? = nil, token: CancellationToken = .none) -> Future<Value> {
        guard let loop = (loop ?? .current)?.core else { Misuse.noLoop() }
        loop.checkThread()
        guard !token.isCancelled(on: loop) else { return loop.failed(CancellationError()) }
        return loop.attempt { try recipe(loop).given(to: loop).until(token) }
    }
}

@available(*, unavailable, message: "A recipe makes futures of one loop; go there with loop.execute { … }.")
extension Deferred: Sendable {}
