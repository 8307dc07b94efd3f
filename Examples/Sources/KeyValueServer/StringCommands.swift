import RESP

extension Command {
    static let strings = [
        Command("get", 2) { try $0.get($2, $3, &$4) },
        Command("set", -3, [.writes, .grows]) { try $0.set($2, $3, &$4) },
        Command("setnx", 3, [.writes, .grows]) { try $0.setIfMissing($2, $3, &$4) },
        Command("getset", 3, [.writes, .grows]) { try $0.getSet($2, $3, &$4) },
        Command("getdel", 2, .writes) { try $0.getDelete($2, $3, &$4) },
        Command("append", 3, [.writes, .grows]) { try $0.append($2, $3, &$4) },
        Command("strlen", 2) { try $0.length($2, $3, &$4) },
        Command("mget", -2) { try $0.getMany($2, $3, &$4) },
        Command("mset", -3, [.writes, .grows]) { try $0.setMany($2, $3, &$4) },
    ]
}

extension KeyValueService {
    private static let longestValue = 536_870_912

    fileprivate func get(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        try appendValue(of: bytes.extracting(words[1]), to: &answer)
    }

    private func appendValue(of key: RawSpan, to answer: inout [UInt8]) throws {
        if let slot = store.find(key) {
            try appendValue(slot, to: &answer)
        } else {
            answer.appendNull(version)
        }
    }

    private func appendValue(_ slot: Int, to answer: inout [UInt8]) throws {
        store.appendValue(slot, to: &answer)
        try clientMemory.check(answer.count)
    }

    fileprivate func set(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let options = words.count > 3 ? try SetOptions(words, bytes, now: store.now) : SetOptions()
        let key = bytes.extracting(words[1])
        let found = options.needsOld ? store.find(key) : nil
        if options.returnsOld {
            if let found { try appendValue(found, to: &answer) } else { answer.appendNull(version) }
        }
        if options.onlyIfMissing && found != nil || options.onlyIfPresent && found == nil {
            if !options.returnsOld { answer.appendNull(version) }
            return
        }
        put(key, bytes.extracting(words[2]), options.expiry, keepsExpiry: options.keepsExpiry)
        if !options.returnsOld { answer.appendStatus("OK") }
    }

    /// Sets the value of a key, and tells the log.
    private func put(
        _ key: RawSpan, _ value: RawSpan, _ expiry: Int64 = KeyTable.never, keepsExpiry: Bool = false
    ) {
        let slot = store.findOrInsert(key)
        store.setValue(slot, value)
        if !keepsExpiry { store.setExpiry(slot, expiry) }
        logSet(slot)
        if expiry != KeyTable.never { startExpiring() }
    }

    fileprivate func setIfMissing(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let key = bytes.extracting(words[1])
        let isMissing = store.find(key) == nil
        if isMissing { put(key, bytes.extracting(words[2])) }
        answer.appendInteger(isMissing ? 1 : 0)
    }

    fileprivate func getSet(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let key = bytes.extracting(words[1])
        try appendValue(of: key, to: &answer)
        put(key, bytes.extracting(words[2]))
    }

    fileprivate func getDelete(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard let slot = store.find(bytes.extracting(words[1])) else { return answer.appendNull(version) }
        try appendValue(slot, to: &answer)
        remove(slot)
    }

    fileprivate func append(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let (key, suffix) = (bytes.extracting(words[1]), bytes.extracting(words[2]))
        let before = store.find(key).map { store.valueCount($0) } ?? 0
        guard before + suffix.byteCount <= Self.longestValue else {
            throw CommandError("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
        }
        // So that it can be read.
        try clientMemory.check(before + suffix.byteCount)
        let slot = store.findOrInsert(key)
        store.appendToValue(slot, suffix)
        logAppend(slot, suffix)
        answer.appendInteger(before + suffix.byteCount)
    }

    fileprivate func length(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        answer.appendInteger(store.find(bytes.extracting(words[1])).map { store.valueCount($0) } ?? 0)
    }

    fileprivate func getMany(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        answer.appendArray(count: words.count - 1)
        for key in words.dropFirst() { try appendValue(of: bytes.extracting(key), to: &answer) }
    }

    fileprivate func setMany(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard words.count % 2 == 1 else { throw CommandError.wrongCount("mset") }
        for index in stride(from: 1, to: words.count, by: 2) {
            put(bytes.extracting(words[index]), bytes.extracting(words[index + 1]))
        }
        answer.appendStatus("OK")
    }
}

/// What stands behind the value of a `SET`.
private struct SetOptions {
    var onlyIfMissing = false
    var onlyIfPresent = false
    var returnsOld = false
    var keepsExpiry = false
    var expiry = KeyTable.never

    var needsOld: Bool { onlyIfMissing || onlyIfPresent || returnsOld }

    init() {}

    init(_ words: [Range<Int>], _ bytes: RawSpan, now: Int64) throws {
        var (index, time) = (3, (unit: TimeUnit, amount: Range<Int>)?.none)
        while index < words.count {
            let word = words[index]
            index += 1
            if bytes.isWord(word, "NX") {
                onlyIfMissing = true
            } else if bytes.isWord(word, "XX") {
                onlyIfPresent = true
            } else if bytes.isWord(word, "GET") {
                returnsOld = true
            } else if bytes.isWord(word, "KEEPTTL") {
                keepsExpiry = true
            } else if let unit = TimeUnit(word, bytes), index < words.count, time == nil {
                time = (unit, words[index])
                index += 1
            } else {
                throw CommandError.syntax
            }
        }
        guard !(onlyIfMissing && onlyIfPresent), !(keepsExpiry && time != nil) else {
            throw CommandError.syntax
        }
        guard let time else { return }
        expiry = try time.unit.time(try bytes.number(time.amount), now: now, command: "set")
    }
}

/// How a time is given, by the word for it behind the value of a `SET`.
enum TimeUnit: String, CaseIterable {
    case seconds = "EX"
    case milliseconds = "PX"
    case secondsSince1970 = "EXAT"
    case millisecondsSince1970 = "PXAT"

    init?(_ word: Range<Int>, _ bytes: RawSpan) {
        guard let unit = Self.allCases.first(where: { bytes.isWord(word, $0.rawValue) }) else { return nil }
        self = unit
    }

    private var isAbsolute: Bool { self == .secondsSince1970 || self == .millisecondsSince1970 }
    private var factor: Int64 { self == .seconds || self == .secondsSince1970 ? 1000 : 1 }

    /// The milliseconds since 1970. With `mayBePast`, the time may be over.
    func time(_ amount: Int, now: Int64, command: String, mayBePast: Bool = false) throws -> Int64 {
        let (scaled, overflows) = Int64(amount).multipliedReportingOverflow(by: factor)
        let (time, overflowsToo) = isAbsolute ? (scaled, false) : scaled.addingReportingOverflow(now)
        guard !overflows, !overflowsToo, time < KeyTable.never, mayBePast || amount > 0 else {
            throw CommandError("ERR invalid expire time in '\(command)' command")
        }
        return time
    }
}
