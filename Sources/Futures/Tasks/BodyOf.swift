/// A body whose work returns a `Value`: one object for all that a body needs besides its task, because thousands of
/// bodies may wait.
@usableFromInline
final class BodyOf<Value>: Body, @unchecked Sendable {
    // Sendable for the same reason as `Body`.

    private let body: () async throws -> Value
    private var outcome: Result<Value, any Error>?

    /// Creates the producer of `cell`, which has a `Value`.
    init(
        completing cell: Cell, for client: (any BodyClient)?, isOnMain: Bool, endsWithWork: Bool,
        _ body: @escaping () async throws -> Value
    ) {
        self.body = body
        super.init(completing: cell, for: client, isOnMain: isOnMain, endsWithWork: endsWithWork)
    }

    override func work() async {
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    }

    override func end() { cell.complete(outcome.take()!) }
}

extension LoopCore {
    /// Starts the task of `body`. Nonisolated parts of the work run on the loop as well.
    func start(_ body: Body) {
        hold()
        // A body that is not isolated to the main actor may call code that is.
        if isOfMainThread { driver.serveMainActor() }
        let isolation = LoopTask(self)
        bodyExecutor.new = body.isOnMain ? .startOnMain : .startOnLoop
        bodies.add(body, of: Task(executorPreference: bodyExecutor) { await isolation.run(body) })
    }

    @MainActor
    fileprivate func runOnMain(_ body: Body) async { await run(body) }

    // What these functions keep while the body waits lies in the first block of the task's memory. They keep so little
    // that the functions of a usual body find room there, too. A second block would be a kilobyte for each body.
    fileprivate nonisolated(nonsending) func run(_ body: Body) async {
        let handler = unsafe body.handleCancellation()
        await body.work()
        unsafe body.stopHandling(handler)
    }

    fileprivate func end(_ body: Body) {
        bodies.remove(body)
        if hasTraces { forgetWait(of: body) }
        body.end()
        letGo()
    }
}

extension LoopTask {
    @inline(__always)
    fileprivate func run(_ body: Body) async {
        if body.isOnMain { await loop.runOnMain(body) } else { await loop.run(body) }
        loop.end(body)
    }
}
