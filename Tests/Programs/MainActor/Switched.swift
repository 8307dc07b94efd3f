import Dispatch
import UVFutures

let loop = EventLoop.main
let other = try EventLoop()
print(loop.servesMainQueue, other.servesMainQueue)

loop.servesMainQueue = false
DispatchQueue.main.async { print("the block has run") }
try loop.run(until: loop.sleep(for: .milliseconds(5)))
print("not served")

other.servesMainQueue = true
try other.run(until: other.sleep(for: .milliseconds(5)))
other.servesMainQueue = false
loop.servesMainQueue = true
DispatchQueue.main.async { print("served again") }
try loop.run(until: loop.sleep(for: .milliseconds(5)))
