/// The history of a simulation: a hash of everything that happened and, on request, a line for each event.
final class Trace {
    /// Whether the trace records anything. A standalone virtual loop records nothing.
    var isOn = false
    /// Whether lines are kept.
    var keepsLines = false
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var lines: [(time: UInt64, text: String)] = []

    private func mix(_ number: UInt64) { hash = Self.mix(hash, number) }

    private static func mix(_ hash: UInt64, _ number: UInt64) -> UInt64 {
        let mixed = (hash ^ number) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 29
    }

    /// Returns a hash that combines `hash` with `bytes`.
    static func mix(_ hash: UInt64, _ bytes: RawSpan) -> UInt64 {
        var hash = mix(hash, UInt64(bytes.byteCount))
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            hash = unsafe mix(hash, bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        while offset < bytes.byteCount {
            hash = unsafe mix(hash, UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)))
            offset += 1
        }
        return hash
    }

    func note(_ text: @autoclosure () -> String, at time: UInt64) {
        guard isOn else { return }
        let text = text()
        mix(time)
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if keepsLines { lines.append((time, text)) }
    }

    /// Records that a wire has delivered something. `text` is called only if lines are kept.
    func note(delivery hash: UInt64, at time: UInt64, _ text: () -> String) {
        mix(time)
        mix(hash)
        if keepsLines { lines.append((time, text())) }
    }
}

extension Trace {
    /// The lines, each with its time.
    var text: [String] { lines.map { time, text in "\(seconds(time))  \(text)" } }

    /// Formats a time in seconds, with microseconds.
    private func seconds(_ time: UInt64) -> String {
        let digits = String(time / 1000 % 1_000_000)
        return "\(time / 1_000_000_000).\(String(repeating: "0", count: 6 - digits.count))\(digits) s"
    }
}
