import UVFutures

@main struct Program {
    static func main() throws {
        let loop = EventLoop.main
        let atOnce = RemoteContext.mainImmediate.execute(on: loop) { loop.isCurrent }
        print("at once: \(atOnce.isCompleted)")
        let later = RemoteContext.main.execute(on: loop) { loop.isCurrent }
        print("later: \(!later.isCompleted), on the main thread: \(try loop.run(until: later))")
        let thread = try EventLoop.onNewThread()
        let fromElsewhere = loop.succeeded().flatMap(on: .loop(thread.loop)) {
            let contexts = [RemoteContext.main, .mainImmediate, .main]
            return Future.all(contexts.map { $0.execute { loop.isCurrent } })
        }
        print("from another thread: \(try loop.run(until: fromElsewhere))")
        thread.shutdown()
        thread.join()
    }
}
