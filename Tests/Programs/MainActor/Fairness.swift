// Blocks that submit themselves again starve no timer, and callbacks that do so starve no block.
import Dispatch
import Glibc
import UVFutures

let loop = EventLoop.main

@MainActor final class Count {
    static var blocks = 0
}

func again() {
    DispatchQueue.main.async {
        Count.blocks += 1
        Count.blocks < 1_000_000 ? again() : loop.stop()
    }
}
again()
var last = clock()
var longest = 0
loop.repeat(every: .milliseconds(10)) {
    let now = clock()
    longest = max(longest, now - last)
    last = now
}
try loop.run()
print("\(Count.blocks) blocks, and a timer within 60 ms of processor time: \(longest < 60_000)")

var callbacks = 0
@MainActor func more() -> Future<Void> {
    callbacks += 1
    return callbacks == 1_000_000 ? loop.succeeded() : loop.submit {}.flatMap(more)
}
Count.blocks = 0
func count() {
    DispatchQueue.main.async {
        Count.blocks += 1
        count()
    }
}
count()
try loop.run(until: more())
print("\(callbacks) callbacks, and more than 100 blocks: \(Count.blocks > 100)")
