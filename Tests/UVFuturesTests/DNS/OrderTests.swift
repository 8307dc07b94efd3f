import Futures
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct OrderTests {
    private func record(_ target: String, _ priority: Int, _ weight: Int) -> SRVRecord {
        SRVRecord(priority: priority, weight: weight, port: 1, target: target, timeToLive: .zero)
    }

    @Test("a lower priority comes first, whatever the weights are")
    func priorities() {
        let records = [record("c", 30, 100), record("a", 10, 0), record("b", 20, 65_535)]
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100 { #expect(records.ordered(using: &random).map(\.target) == ["a", "b", "c"]) }
    }

    @Test("within a priority, the weights decide how often a server comes first")
    func weights() {
        let records = [record("three", 1, 3), record("one", 1, 1), record("none", 1, 0)]
        var random = SeededGenerator(seed: 1)
        var first: [String: Int] = [:]
        for _ in 0..<10_000 {
            let order = records.ordered(using: &random)
            #expect(Set(order) == Set(records))
            first[order[0].target, default: 0] += 1
        }
        // A number from 0 to 4 chooses: 0 the server without a weight, then 1, and 2 to 4.
        #expect((1800...2200).contains(first["none"]!), "\(first)")
        #expect((1800...2200).contains(first["one"]!), "\(first)")
        #expect((5800...6200).contains(first["three"]!), "\(first)")
    }

    @Test("servers without weights come in each order")
    func noWeights() {
        let records = ["a", "b", "c"].map { record($0, 1, 0) }
        var random = SeededGenerator(seed: 1)
        let orders = Set((0..<1000).map { _ in records.ordered(using: &random).map(\.target).joined() })
        #expect(orders.count == 6)
    }

    @Test("two servers of the same weight come in both orders")
    func pair() {
        let records = ["a", "b"].map { record($0, 1, 7) }
        var random = SeededGenerator(seed: 1)
        let orders = Set((0..<100).map { _ in records.ordered(using: &random).map(\.target).joined() })
        #expect(orders == ["ab", "ba"])
    }

    @Test("the largest sum of weights is ordered, too")
    func large() {
        let records = (0..<2000).map { record("\($0)", 1, 65_535) }
        var random = SeededGenerator(seed: 1)
        #expect(Set(records.ordered(using: &random)).count == 2000)
    }

    @Test(
        "many servers are put in order in time that their number is in proportion to", arguments: [0, 65_535])
    func growth(weight: Int) {
        expectLinear(from: 1024, upTo: 8192) { count in
            let records = (0..<count).map { record("\($0)", 1, weight) }
            var random = SeededGenerator(seed: 1)
            return { _ = records.ordered(using: &random) }
        }
    }
}
