import RESP

extension Command {
    static let keys = [
        Command("del", -2, .writes) { try $0.delete($2, $3, &$4) },
        Command("exists", -2) { try $0.exists($2, $3, &$4) },
        Command("type", 2) { try $0.type($2, $3, &$4) },
        Command("keys", 2) { try $0.keys($2, $3, &$4) },
        Command("scan", -2) { try $0.scan($2, $3, &$4) },
        Command("dbsize", 1) { service, _, _, _, answer in answer.appendInteger(service.store.count) },
        Command("flushall", -1, .writes) { try $0.removeAll($2, $3, &$4) },
        Command("flushdb", -1, .writes) { try $0.removeAll($2, $3, &$4) },
    ]
}

extension KeyValueService {
    /// Removes an entry, and tells the log.
    func remove(_ slot: Int) {
        logRemoval(store.key(slot))
        store.remove(slot)
    }

    fileprivate func delete(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        var count = 0
        for key in words.dropFirst() {
            guard let slot = store.find(bytes.extracting(key)) else { continue }
            remove(slot)
            count += 1
        }
        answer.appendInteger(count)
    }

    fileprivate func exists(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        answer.appendInteger(words.dropFirst().count { store.find(bytes.extracting($0)) != nil })
    }

    fileprivate func type(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        answer.appendStatus(store.find(bytes.extracting(words[1])) == nil ? "none" : "string")
    }

    fileprivate func keys(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let pattern = Glob(bytes.array(words[1]))
        var (found, steps) = ([Int](), Glob.mostSteps)
        for slot in store.table.entries.indices where store.isPresent(slot) {
            if try pattern.matches(store.key(slot), &steps) { found.append(slot) }
        }
        try appendKeys(found, to: &answer)
    }

    private func appendKeys(_ slots: [Int], to answer: inout [UInt8]) throws {
        answer.appendArray(count: slots.count)
        for slot in slots {
            try clientMemory.check(answer.count + store.keyCount(slot))
            answer.appendBulk(store.key(slot).span.bytes)
        }
    }

    fileprivate func scan(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard let start = UInt64(bytes.text(words[1])) else { throw CommandError("ERR invalid cursor") }
        var (count, pattern, isString) = (10, Glob?.none, true)
        guard words.count % 2 == 0 else { throw CommandError.syntax }
        for index in stride(from: 2, to: words.count, by: 2) {
            let value = words[index + 1]
            if bytes.isWord(words[index], "COUNT") {
                count = try bytes.number(value)
                guard count > 0 else { throw CommandError.syntax }
            } else if bytes.isWord(words[index], "MATCH") {
                pattern = Glob(bytes.array(value))
            } else if bytes.isWord(words[index], "TYPE") {
                isString = bytes.isWord(value, "STRING")
            } else {
                throw CommandError.syntax
            }
        }
        var (cursor, found, met, buckets) = (start, [Int](), 0, 0)
        var steps = Glob.mostSteps
        repeat {
            cursor = try store.table.scan(cursor) { slot in
                met += 1
                guard store.isPresent(slot), isString else { return }
                if try pattern?.matches(store.key(slot), &steps) ?? true { found.append(slot) }
            }
            buckets += 1
            // Most buckets of a table that has shrunk are empty.
        } while cursor != 0 && met < count && buckets / 10 < count
        answer.appendArray(count: 2)
        answer.appendBulk(String(cursor))
        try appendKeys(found, to: &answer)
    }

    fileprivate func removeAll(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard
            words.count == 1
                || words.count == 2 && ["SYNC", "ASYNC"].contains(where: { bytes.isWord(words[1], $0) })
        else { throw CommandError.syntax }
        store.removeAll()
        logRemovalOfAll()
        answer.appendStatus("OK")
    }
}
