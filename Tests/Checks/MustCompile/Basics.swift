import UVFutures

/// Uses what the fixtures misuse, as it should be used.
func control(loop: EventLoop) {
    let promise = loop.makePromise(of: Int.self)
    var seen: [Int] = []
    promise.future
        .map { $0 + 1 }
        .flatMap { _ in loop.makePromise(of: Int.self).future }
        .whenComplete { result in seen.append((try? result.get()) ?? 0) }
    promise.succeed(1)
    loop.execute { print("on the loop") }
}
