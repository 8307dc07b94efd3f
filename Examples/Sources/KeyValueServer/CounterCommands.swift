import RESP

extension Command {
    static let counters = [
        Command("incr", 2, [.writes, .grows]) { try $0.add(1, $2, $3, &$4) },
        Command("decr", 2, [.writes, .grows]) { try $0.add(-1, $2, $3, &$4) },
        Command("incrby", 3, [.writes, .grows]) { try $0.add($3.number($2[2]), $2, $3, &$4) },
        Command("decrby", 3, [.writes, .grows]) { try $0.subtract($2, $3, &$4) },
    ]
}

extension KeyValueService {
    fileprivate func add(_ amount: Int, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let key = bytes.extracting(words[1])
        let found = store.find(key)
        var number = 0
        if let found {
            guard let value = store.number(found) else { throw CommandError.notInteger }
            number = value
        }
        let (sum, overflows) = number.addingReportingOverflow(amount)
        guard !overflows else { throw CommandError("ERR increment or decrement would overflow") }
        let slot = found ?? store.findOrInsert(key)
        store.setNumber(slot, sum)
        logSet(slot)
        answer.appendInteger(sum)
    }

    fileprivate func subtract(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let amount = try bytes.number(words[2])
        guard amount > .min else { throw CommandError("ERR decrement would overflow") }
        try add(-amount, words, bytes, &answer)
    }
}
