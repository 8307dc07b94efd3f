internal import Futures

/// The reader of `forEachChunk`, `forEachSpan` and `forEachMessage`, which waits for the future that the body returned.
class ChunkLoop: ChunkReader {
    private final let promise: OwnedPromise<Void>

    override init(_ stream: ByteStream) {
        promise = OwnedPromise(on: stream.core)
        super.init(stream)
        promise.belong(to: self)
    }

    final var future: Future<Void> { promise.future }

    final override func cancellationRequested() {
        stream.remove(self)
        waiting?.cancel()
    }

    final override func fail(_ error: any Error, byClose: Bool) {
        if byClose {
            promise.succeed(())
        } else {
            promise.future.ignoreFailure()
            promise.fail(error)
        }
    }

    final override func reachedEnd() { end(.success(())) }

    /// Calls the body, and then waits for the future that it returns. `nil` means that there is nothing to wait for.
    @inline(__always)
    final func follow(_ body: () throws -> Future<Void>?) {
        do {
            if let future = try body(), !stream.hasSucceeded(future) { wait(for: future) }
        } catch {
            end(.failure(error))
        }
    }

    private final func wait(for future: Future<Void>) {
        switch future.result {
        case .success: break
        case .failure(let error):
            future.ignoreFailure()
            end(.failure(error))
        case nil where stream.reader !== self:
            if promise.future.isCancelled { future.cancel() }
        case nil where future.isDecided(by: promise.future):
            future.ignoreFailure()
            end(.failure(FutureError.cycle))
        case nil:
            waiting = future.mapResult { result in
                self.waiting = nil
                switch result {
                case .success: self.run()
                case .failure(let error): self.end(.failure(error))
                }
            }
        }
    }

    final func end(_ result: Result<Void, any Error>) {
        guard stream.reader === self else { return }
        stream.remove(self)
        promise.complete(result)
    }
}
