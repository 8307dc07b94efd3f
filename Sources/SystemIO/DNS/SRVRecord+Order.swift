extension [SRVRecord] {
    /// Returns the servers in the order in which a client tries them: by priority and, within a priority, in a random
    /// order by weight, as RFC 2782 says. A server with twice the weight comes first twice as often.
    func ordered(using random: inout some RandomNumberGenerator) -> [SRVRecord] {
        var ordered: [SRVRecord] = []
        // Without weights, all orders are equally likely.
        let sorted = shuffled(using: &random).sorted { ($0.priority, $0.weight) < ($1.priority, $1.weight) }
        while ordered.count < sorted.count {
            let start = ordered.count
            let group = sorted[start...].prefix { $0.priority == sorted[start].priority }
            var weights = WeightSums(group.map(\.weight))
            for _ in group {
                let chance = Int.random(in: 0...weights.total, using: &random)
                ordered.append(sorted[start + weights.take(at: chance)])
            }
        }
        return ordered
    }
}

/// Takes weights one by one. A server chooses how many records an answer has, so the cost of a step must not grow with
/// the number of weights.
private struct WeightSums {
    private let count: Int
    /// A tree: each node is the sum of its children, 2n and 2n + 1. The weights themselves begin at the node `count`.
    private var sums: [Int]
    private var isTaken: [Bool]
    /// The index of the first weight that is left.
    private var first = 0

    init(_ weights: [Int]) {
        count = weights.count.roundedUpToPowerOfTwo
        isTaken = weights.map { _ in false }
        sums = Array(repeating: 0, count: count) + weights
        sums += Array(repeating: 0, count: 2 * count - sums.count)
        for node in stride(from: count - 1, to: 0, by: -1) {
            sums[node] = sums[2 * node] + sums[2 * node + 1]
        }
    }

    var total: Int { sums[1] }

    /// Takes the first remaining weight at which the running sum of the remaining weights reaches `number`. So a weight
    /// of 0, which comes first, is taken only by the number 0.
    mutating func take(at number: Int) -> Int {
        var (node, rest) = (number == 0 ? count + first : 1, number)
        while node < count {
            node *= 2
            if sums[node] < rest {
                rest -= sums[node]
                node += 1
            }
        }
        let (index, weight) = (node - count, sums[node])
        while node > 0 {
            sums[node] -= weight
            node /= 2
        }
        isTaken[index] = true
        while first < isTaken.count, isTaken[first] { first += 1 }
        return index
    }
}

extension Int {
    fileprivate var roundedUpToPowerOfTwo: Int {
        self < 2 ? 1 : 1 << (bitWidth - (self - 1).leadingZeroBitCount)
    }
}
