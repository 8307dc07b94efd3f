/// One change of the counter. A leader begins its term with a change of client 0, which changes nothing.
struct Entry: Hashable {
    let term, client, number, amount: Int
}

/// What a replica must still know after a crash.
struct Saved: Hashable {
    var term = 0
    var vote: Int?
    var log: [Entry] = []
}

/// As text, an entry is `term:client:number:amount`.
extension Entry: LosslessStringConvertible {
    var description: String { "\(term):\(client):\(number):\(amount)" }

    init?(_ text: String) {
        let numbers = text.split(separator: ":").compactMap { Int($0) }
        guard numbers.count == 4 else { return nil }
        self.init(term: numbers[0], client: numbers[1], number: numbers[2], amount: numbers[3])
    }
}

/// As text, the term, the vote or -1, and the entries, with spaces between them.
extension Saved: LosslessStringConvertible {
    var description: String { "\(term) \(vote ?? -1)\(log.map { " \($0)" }.joined())" }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count >= 2, let term = Int(words[0]), let vote = Int(words[1]) else { return nil }
        let log = words[2...].compactMap { Entry(String($0)) }
        guard log.count == words.count - 2 else { return nil }
        self.init(term: term, vote: vote < 0 ? nil : vote, log: log)
    }
}

/// The sum, and what has been done for each client.
struct Counter {
    private(set) var sum = 0
    private var last: [Int: (number: Int, sum: Int)] = [:]

    /// Adds an amount, and returns the sum. A change that has been made before is not made again.
    mutating func apply(_ entry: Entry, mistake: Mistake?) -> Int {
        if mistake != .appliesRetries, let last = last[entry.client], entry.number <= last.number {
            return last.sum
        }
        sum += entry.amount
        last[entry.client] = (entry.number, sum)
        return sum
    }
}
