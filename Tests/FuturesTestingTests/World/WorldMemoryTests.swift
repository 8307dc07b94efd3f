import CHeap
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct WorldMemoryTests {
    @Test("sixty minutes of five busy hosts take no more memory than ten")
    func flat() async {
        await #expect(processExitsWith: .success) {
            let world = World(seed: 1)
            let names = ["a", "b", "c", "d", "e"]
            for name in names { try world.addHost(name, Programs.echo) }
            for (host, neighbour) in zip(world.hosts, names[1...] + names[..<1]) {
                let connection = try world.run(
                    until: TCPConnection.connect(host: neighbour, port: 7, on: host.loop))
                connection.forEachChunk { _ in }.ignoreFailure()
                host.loop.repeat(every: .milliseconds(10)) { _ = connection.write("a message") }
                    .future.ignoreFailure()
                host.loop.repeat(every: .seconds(1)) { [unowned host] in
                    Programs.ask(host, neighbour).ignoreFailure()
                }
                .future.ignoreFailure()
            }
            // A debug build takes sixty seconds for so many minutes.
            let tenth: Duration = isDebug ? .seconds(5) / slowShare : .seconds(600)
            // Systems remember connections for a minute, and forget the first ones then.
            try world.run(for: max(tenth, .seconds(70)))
            let before = heapInUse()
            try world.run(for: tenth * 5)
            // What is on its way at the moment.
            let grown = heapInUse() - before
            #expect(grown < 8_192, "\(grown) bytes")
            world.end()
        }
    }
}

private func heapInUse() -> Int {
    let heap = mallinfo2()
    return heap.uordblks + heap.hblkhd
}
