/// A queue that starts operations in the order in which they were enqueued, and limits how many run at a
/// time.
///
/// An operation counts as running from its start until its future has completed. An operation that fails,
/// throws or is cancelled does not stop the queue. The loop starts the operations later, and never inside
/// `enqueue`. The queue stays alive as long as it has operations.
public final class FutureQueue<Resource> {
    /// The value that the operations of the queue share, such as a database connection.
    public let resource: Resource
    public let loop: EventLoop
    /// The highest number of operations that run at a time. After a change to a lower number, the running
    /// operations continue. Setting a number that is not positive traps.
    public var maxConcurrent: Int {
        didSet {
            loop.core.checkThread()
            Self.check(maxConcurrent)
            startNext()
        }
    }

    /// A handler that learns whether the queue is empty. The loop calls the handler with `true` after the
    /// queue has become empty, and with `false` after a new operation has come to the empty queue. If the
    /// queue changes and changes back before the call, there is no call.
    public var onEmptyChange: ((Bool) -> Void)? {
        get { emptyHandler }
        set {
            toldEmpty = isEmpty
            withExtendedLifetime(exchange(&emptyHandler, with: newValue)) {}
        }
    }

    /// The error with which `enqueue` fails after the queue was closed, or `nil` as long as the queue is
    /// open.
    public private(set) var closedError: (any Error)?

    private var waiting: [(priority: Int, line: Line<QueuedOperation>)] = []
    private var running = Line<QueuedOperation>()
    private var isStarting = false
    private let emptied: FutureEvent
    private var emptyHandler: ((Bool) -> Void)?
    private var toldEmpty = true
    private var isTelling = false

    /// Creates a queue with `resource`. Traps if `maxConcurrent` is not positive.
    public init(resource: Resource, maxConcurrent: Int = 1, on loop: EventLoop) {
        Self.check(maxConcurrent)
        self.resource = resource
        self.maxConcurrent = maxConcurrent
        self.loop = loop.core
        emptied = FutureEvent(on: loop, name: "queue")
        emptied.set()
    }

    static func check(_ limit: Int) {
        if limit < 1 { Misuse.size(limit, of: "The limit of operations at a time", atLeast: 1) }
    }

    /// The number of operations that are running.
    public var runningCount: Int { running.count }

    /// The number of operations that have not started yet.
    public var queuedCount: Int { waiting.reduce(0) { $0 + $1.line.count } }

    /// Whether the queue has no running and no waiting operations.
    public var isEmpty: Bool { running.isEmpty && waiting.isEmpty }

    public var isClosed: Bool { closedError != nil }

    /// Completes when the queue is empty and the callbacks for the outcome of the last operation have run. If
    /// these callbacks enqueue more operations, the returned future waits for these operations, too.
    public func whenEmpty() -> Future<Void> { emptied.wait() }

    /// Runs `operation` when all operations before it have started and fewer than ``maxConcurrent``
    /// operations run. The returned future gets the outcome of the future that `operation` returns, or fails
    /// with the error that `operation` throws.
    ///
    /// Operations with a higher `priority` start first. Operations of equal priority start in the order in
    /// which they were enqueued. If the returned future is cancelled before the start, the operation is
    /// removed and never runs. If the returned future is cancelled later, the future that `operation`
    /// returned is asked to cancel. The operation counts as running until the future that `enqueue` returned
    /// has completed. If the queue is closed, `operation` never runs, and the returned future fails with
    /// ``closedError``.
    ///
    /// ```swift
    /// let queue = FutureQueue(maxConcurrent: 2, on: loop)
    /// for name in names { queue.enqueue { fetch(name) } }
    /// let urgent = queue.enqueue(priority: 1) { fetch("urgent") }
    /// ```
    @discardableResult
    public func enqueue<Value>(
        priority: Int = 0, _ operation: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        loop.core.checkThread()
        if let closedError { return loop.failed(closedError) }
        guard !loop.core.isShutDown else { return loop.failed(FutureError.shutDown) }
        let queued = QueuedOperation(on: loop, priority: priority, operation: operation, ended: ended)
        append(queued)
        emptied.reset()
        tellEmptyChange()
        startNext()
        return Future(queued.target)
    }

    /// Runs `operation` when all operations before it have started and fewer than ``maxConcurrent``
    /// operations run. The returned future completes with the value that `operation` returns, or fails with
    /// the error that `operation` throws. Everything else is the same as in the `enqueue` whose `operation`
    /// returns a future.
    @discardableResult
    public func enqueue<Value>(
        priority: Int = 0, _ operation: @escaping () throws -> Value
    ) -> Future<Value> {
        let loop = loop
        return enqueue(priority: priority) { () throws -> Future<Value> in loop.succeeded(try operation()) }
    }

    /// Closes the queue. From now on, `enqueue` fails with `error`, or with ``FutureError/closed(_:)`` if
    /// `error` is `nil`. Operations that were enqueued before this call are not affected. A second call does
    /// nothing.
    public func close(with error: (any Error)? = nil) {
        loop.core.checkThread()
        if !isClosed { closedError = error ?? FutureError.closed("queue") }
    }

    /// Ends all operations at once: their futures fail with `error`. Running operations are asked to cancel.
    /// Waiting operations never start. If `close` is `true`, also closes the queue, as ``close(with:)`` does.
    /// If `close` is `false`, the queue stays open for new operations.
    public func abort(with error: any Error, close: Bool = false) {
        if close { self.close(with: error) }
        loop.core.checkThread()
        var operations = running.takeAll()
        for var (_, line) in exchange(&waiting, with: []) { operations += line.takeAll() }
        for operation in operations { operation.abort(error) }
    }

    private func append(_ operation: QueuedOperation) {
        let index = waiting.firstIndex { $0.priority <= operation.priority } ?? waiting.count
        if index == waiting.count || waiting[index].priority != operation.priority {
            waiting.insert((operation.priority, Line()), at: index)
        }
        waiting[index].line.append(operation)
    }

    private func remove(_ operation: QueuedOperation) {
        if operation.isRunning { return running.remove(operation) }
        guard let index = waiting.firstIndex(where: { $0.priority == operation.priority }) else { return }
        waiting[index].line.remove(operation)
        if waiting[index].line.isEmpty { waiting.remove(at: index) }
    }

    private func ended(_ operation: QueuedOperation) {
        remove(operation)
        startNext()
        if isEmpty { tellEmptyChange() }
    }

    /// Starts one operation from the ready queue, then the next one. Each start is a callback of its own.
    private func startNext() {
        guard !isStarting, running.count < maxConcurrent, !waiting.isEmpty else { return }
        isStarting = true
        loop.core.enqueue { [self] in
            isStarting = false
            guard running.count < maxConcurrent, let operation = waiting.first?.line.first else { return }
            remove(operation)
            running.append(operation)
            operation.run()
            startNext()
        }
    }

    private func tellEmptied() {
        guard emptied.isAwaited else { return emptied.set() }
        loop.core.afterCallbacks { [self] in if isEmpty { emptied.set() } }
    }

    /// Calls `onEmptyChange` from the ready queue, after the callbacks of the operation that has ended: these
    /// callbacks may enqueue the next operation.
    private func tellEmptyChange() {
        guard !isTelling else { return }
        isTelling = true
        loop.core.enqueue { [self] in
            isTelling = false
            if isEmpty { tellEmptied() }
            guard isEmpty != toldEmpty else { return }
            toldEmpty = isEmpty
            emptyHandler?(isEmpty)
        }
    }
}

extension FutureQueue where Resource == Void {
    /// Creates a queue without a resource. Traps if `maxConcurrent` is not positive.
    public convenience init(maxConcurrent: Int = 1, on loop: EventLoop) {
        self.init(resource: (), maxConcurrent: maxConcurrent, on: loop)
    }
}
