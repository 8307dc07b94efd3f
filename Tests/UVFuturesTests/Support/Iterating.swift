import UVFutures

extension LoopSequence {
    /// Passes each element to `body`, in a task that waits: that of a body, or one that an actor on the loop has
    /// started. Completes at the end.
    func iterate(byActor: Bool, _ body: @escaping (Element) -> Void = { _ in }) -> Future<Void> {
        guard byActor else { return Future(on: loop) { for try await element in self { body(element) } } }
        let promise = loop.makePromise(of: Void.self)
        let work = Carried((self, body, promise))
        Iterator(loop).assumeIsolated { $0.start(work) }
        return promise.future
    }
}

/// What enters an actor whose executor is the loop that it belongs to.
private struct Carried<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

private actor Iterator {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func start<Element>(_ work: Carried<(LoopSequence<Element>, (Element) -> Void, Promise<Void>)>) {
        Task {
            let result = await iterate(work.value.0, work.value.1)
            work.value.2.complete(result)
        }
    }

    private func iterate<Element>(
        _ elements: LoopSequence<Element>, _ body: (Element) -> Void
    ) async -> Result<Void, any Error> {
        do {
            for try await element in elements {
                precondition(loop.isCurrent)
                body(element)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
