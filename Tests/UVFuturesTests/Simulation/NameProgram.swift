import TestSupport

/// A hosts file, and the names that are looked up with it.
struct NameProgram: Shrinkable {
    var lines: [String] = []
    var names: [String] = []
    var endsInLine = true

    static func random(seed: UInt64) -> NameProgram {
        var random = SeededGenerator(seed: seed)
        func any<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }
        func name() -> String {
            any([
                "a", "a", "A", "b", "b", "c", "a.b", "a.B", "a.", "a.b.", "localhost", "LocalHost",
                "localhost.",
                "x.localhost", "_a", "a-b", "-a", "1", "1.2", "10.0.0.1", "::1", "é", "a_b", "ip6-localhost",
                String(repeating: "n", count: 63), String(repeating: "n", count: 64),
            ])
        }
        func address() -> String {
            any([
                "127.0.0.1", "127.0.0.1", "::1", "::1", "10.0.0.1", "10.0.0.2", "192.0.2.5", "fd01::5",
                "FD01::5",
                "::ffff:10.0.0.3", "127.1", "10.1", "010.0.0.1", "0x7f.0.0.1", "256.0.0.1", "1.2.3.4.5",
                "1.2.3.4:5",
                "fe80::1%1", "[::1]", "::", "0.0.0.0", "255.255.255.255", "bogus", "12345", "a",
            ])
        }
        func line() -> String {
            if random.below(12) == 0 {
                return any(["", " ", "\t", "#", "# a 10.0.0.9", " # a", "10.0.0.9", "10.0.0.9 #a"])
            }
            var text = any(["", "", "", "", " ", "\t"]) + address()
            for _ in 0..<any([1, 1, 1, 2, 2, 3, 5]) { text += any([" ", " ", "\t", "  ", " \t "]) + name() }
            return text + any(["", "", "", "", " ", "\t", " # c", "#c", "\r", " a#b"])
        }
        var program = NameProgram()
        for _ in 0..<random.below(12) { program.lines.append(line()) }
        // The C library (2.36) loses a last line that begins with a blank and is not ended.
        program.endsInLine = random.below(4) > 0 || program.lines.last?.first?.isWhitespace == true
        for _ in 0..<10 { program.names.append(name()) }
        return program
    }

    var text: String { lines.joined(separator: "\n") + (endsInLine && !lines.isEmpty ? "\n" : "") }

    var partCount: Int { lines.count + names.count }

    func without(_ part: Int) -> NameProgram? {
        var shorter = self
        if part < lines.count {
            shorter.lines.remove(at: part)
        } else {
            shorter.names.remove(at: part - lines.count)
        }
        return shorter
    }

    var description: String { "\(names), looked up in\n\(text.debugDescription)" }
}
