import RESP

extension Command {
    static let times = [
        Command("expire", -3, .writes) { try $0.expire(.seconds, "expire", $2, $3, &$4) },
        Command("pexpire", -3, .writes) { try $0.expire(.milliseconds, "pexpire", $2, $3, &$4) },
        Command("expireat", -3, .writes) { try $0.expire(.secondsSince1970, "expireat", $2, $3, &$4) },
        Command("pexpireat", -3, .writes) { try $0.expire(.millisecondsSince1970, "pexpireat", $2, $3, &$4) },
        Command("ttl", 2) { service, _, words, bytes, answer in
            let left = service.timeLeft(bytes.extracting(words[1]))
            answer.appendInteger(left < 0 ? left : (left + 500) / 1000)
        },
        Command("pttl", 2) { service, _, words, bytes, answer in
            answer.appendInteger(service.timeLeft(bytes.extracting(words[1])))
        },
        Command("persist", 2, .writes) { try $0.persist($2, $3, &$4) },
    ]
}

extension KeyValueService {
    fileprivate func expire(
        _ unit: TimeUnit, _ name: String, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        var conditions: Set<String> = []
        for word in words.dropFirst(3) {
            guard let condition = ["NX", "XX", "GT", "LT"].first(where: { bytes.isWord(word, $0) }) else {
                throw CommandError("ERR Unsupported option \(bytes.text(word))")
            }
            conditions.insert(condition)
        }
        guard !conditions.contains("NX") || conditions.count == 1 else {
            throw CommandError("ERR NX and XX, GT or LT options at the same time are not compatible")
        }
        guard !conditions.isSuperset(of: ["GT", "LT"]) else {
            throw CommandError("ERR GT and LT options at the same time are not compatible")
        }
        let now = store.now
        let time = try unit.time(try bytes.number(words[2]), now: now, command: name, mayBePast: true)
        guard let slot = store.find(bytes.extracting(words[1])) else { return answer.appendInteger(0) }
        let before = store.expiry(slot)
        let isAllowed = conditions.allSatisfy { condition in
            switch condition {
            case "NX": before == KeyTable.never
            case "XX": before != KeyTable.never
            case "GT": time > before
            default: time < before
            }
        }
        guard isAllowed else { return answer.appendInteger(0) }
        if time <= now {
            remove(slot)
        } else {
            store.setExpiry(slot, time)
            logExpiry(slot)
            startExpiring()
        }
        answer.appendInteger(1)
    }

    /// The milliseconds that are left of a key: -1 if it does not end, -2 if there is none.
    fileprivate func timeLeft(_ key: RawSpan) -> Int {
        guard let slot = store.find(key) else { return -2 }
        let expiry = store.expiry(slot)
        return expiry == KeyTable.never ? -1 : Int(max(0, expiry - store.now))
    }

    fileprivate func persist(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard let slot = store.find(bytes.extracting(words[1])), store.expiry(slot) != KeyTable.never else {
            return answer.appendInteger(0)
        }
        store.setExpiry(slot, KeyTable.never)
        logExpiry(slot)
        answer.appendInteger(1)
    }
}
