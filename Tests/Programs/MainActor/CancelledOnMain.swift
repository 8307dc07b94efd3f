// Cancelling a body of the main actor cancels what it awaits before the call returns, and a loop that is shut down ends
// what is awaited with its own error.
import UVFutures

@main struct Program {
    @MainActor static func main() throws {
        for loop in [EventLoop.main, try EventLoop()] {
            let promise = loop.makePromise(of: Int.self)
            let body = Future(on: loop) {
                do { print(try await promise.future.value) } catch { print(error) }
            }
            try loop.run(until: loop.sleep(for: .milliseconds(1)))
            print(body.cancel(), promise.succeed(1))
            try loop.run()
        }
        let loop = try EventLoop()
        let promise = loop.makePromise(of: Int.self)
        let body = Future(on: loop) {
            do { print(try await promise.future.value) } catch { print(error) }
        }
        try loop.run(until: loop.sleep(for: .milliseconds(1)))
        loop.shutdown()
        print(body.isFailure)
    }
}
