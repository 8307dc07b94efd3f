import Dispatch
import Glibc

/// Blocks until a task of no actor has run `body`.
public func finish(_ body: @escaping @Sendable () async throws -> Void) {
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await body()
        } catch {
            fatalError("an await failed: \(error)")
        }
        ended.signal()
    }
    ended.wait()
}

/// Runs `body` on so many new threads at a time, and returns at once.
public func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    for _ in 0..<count {
        var thread = pthread_t()
        let main = Unmanaged.passRetained(ThreadMain(body))
        let status = pthread_create(&thread, nil, { start($0!) }, main.toOpaque())
        precondition(status == 0, "no thread to be had")
        pthread_detach(thread)
    }
}

private final class ThreadMain {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

private func start(_ main: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadMain>.fromOpaque(main).takeRetainedValue().body()
    return nil
}
