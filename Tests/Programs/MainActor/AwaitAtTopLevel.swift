import Dispatch
import UVFutures

let loop = EventLoop.main
var ticks = 0
loop.repeat(every: .milliseconds(1)) { ticks += 1 }
try await loop.sleep(for: .milliseconds(20)).value
print("a timer fired while the program waited: \(ticks > 0), on the loop: \(loop.isCurrent)")
try await Task.sleep(for: .milliseconds(1))
print("after the runtime's sleep, on the loop: \(loop.isCurrent)")
await Task.detached {}.value
print("after a task elsewhere, on the loop: \(loop.isCurrent)")
let answer = Task { try await loop.submit { 42 }.value }
print(try await answer.value, loop.isCurrent)
