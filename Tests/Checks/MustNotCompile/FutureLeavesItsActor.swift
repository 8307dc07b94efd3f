// expect: non-Sendable type 'Future<Int>' of property 'future' cannot exit actor-isolated context
import UVFutures

actor Owner {
    let loop: EventLoop
    let future: Future<Int>

    init(loop: EventLoop) {
        self.loop = loop
        future = loop.makePromise(of: Int.self).future
    }
}

func carry(from owner: Owner) async -> Future<Int> {
    await owner.future
}
