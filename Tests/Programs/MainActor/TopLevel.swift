import Dispatch
import UVFutures

let loop = EventLoop.main
Task {
    print("task on the main thread: \(loop.isCurrent)")
    await Task.detached {}.value
    print("after a task elsewhere: \(loop.isCurrent)")
    try await loop.sleep(for: .milliseconds(5)).value
    DispatchQueue.main.async {
        print("block: \(loop.isCurrent)")
        MainActor.assumeIsolated { loop.stop() }
    }
}
loop.schedule(after: .seconds(20)) {}
try loop.run()
print("ended")
