// expect: capture of 'counter' with non-Sendable type 'Counter' in a '@Sendable' closure
import UVFutures

final class Counter {
    var count = 0
}

func carry(_ counter: Counter, loop: EventLoop) {
    loop.execute { counter.count += 1 }
}
