extension [SRVRecord] {
    /// Returns the servers in the order in which a client tries them: by priority and, within a priority, in a
    /// random order by weight, as RFC 2782 says. A server with twice the weight comes first twice as often.
    func ordered(using random: inout some RandomNumberGenerator) -> [SRVRecord] {
        var ordered: [SRVRecord] = []
        // Without weights, all orders are equally likely.
        var rest = shuffled(using: &random).sorted { ($0.priority, $0.weight) < ($1.priority, $1.weight) }
        while let priority = rest.first?.priority {
            let group = rest.prefix { $0.priority == priority }
            let sum = group.reduce(0) { $0 + $1.weight }
            // A server of weight 0 stands first, and is chosen only by the number 0.
            var chance = Int.random(in: 0...sum, using: &random)
            let chosen = group.firstIndex { record in
                chance -= record.weight
                return chance <= 0
            }
            ordered.append(rest.remove(at: chosen!))
        }
        return ordered
    }
}
