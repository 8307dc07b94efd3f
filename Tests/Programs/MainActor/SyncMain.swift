import UVFutures

@MainActor final class Counter { var count = 0 }

@main struct Program {
    @MainActor static func main() throws {
        let loop = EventLoop.main
        let counter = Counter()
        loop.repeat(every: .milliseconds(1)) { counter.count += 1 }
        Task.detached {
            while await counter.count < 3 { await Task.yield() }
            await MainActor.run { loop.stop() }
        }
        try loop.run()
        print("counted: \(counter.count >= 3)")
    }
}
