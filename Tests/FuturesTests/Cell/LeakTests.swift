import Foundation
import Futures
import Testing

struct LeakTests {
    private final class Node {
        var next: Node?
    }

    /// The leak checker has to be seen to work: with `PLANT_LEAK` in the environment it has something to find.
    @Test("a retain cycle is planted if the environment asks for it")
    func plantedLeak() {
        guard ProcessInfo.processInfo.environment["PLANT_LEAK"] != nil else { return }
        let node = Node()
        node.next = node
    }
}
