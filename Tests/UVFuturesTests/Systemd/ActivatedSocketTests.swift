import TestSupport
import Testing
import UVFutures

struct ActivatedSocketTests {
    private func parse(_ process: String?, _ count: String?, _ names: String? = nil) throws
        -> [ActivatedSocket]
    {
        try ActivatedSocket.parse(process: process, count: count, names: names, ownProcess: 42)
    }

    @Test("the descriptors that are passed begin at 3, and have the names that they were given")
    func sockets() throws {
        #expect(try parse(nil, nil).isEmpty)
        #expect(try parse("42", "0").isEmpty)
        #expect(try parse("42", "0", "").isEmpty)
        #expect(try parse("42", "1", "") == [ActivatedSocket(descriptor: 3, name: "")])
        #expect(
            try parse("42", "2") == [
                ActivatedSocket(descriptor: 3, name: "unknown"),
                ActivatedSocket(descriptor: 4, name: "unknown"),
            ])
        #expect(
            try parse("42", "3", "http::x y") == [
                ActivatedSocket(descriptor: 3, name: "http"), ActivatedSocket(descriptor: 4, name: ""),
                ActivatedSocket(descriptor: 5, name: "x y"),
            ])
    }

    @Test(
        "variables that make no sense are refused by what they say",
        arguments: [
            (
                nil, "1", nil,
                "LISTEN_PID must be a process id, but is not set, so the sockets belong to no process"
            ),
            (
                "", "1", nil,
                "LISTEN_PID must be a process id, but is \"\", so the sockets belong to no process"
            ),
            (
                "-42", "1", nil,
                "LISTEN_PID must be a process id, but is \"-42\", so the sockets belong to no process"
            ),
            (
                "43", "1", nil,
                "LISTEN_PID is 43, and this process is 42: the sockets are meant for another one; start this program "
                    + "without a shell or a wrapper in between"
            ),
            ("42", nil, nil, "LISTEN_FDS must be a number of descriptors, but is not set"),
            ("42", "many", nil, "LISTEN_FDS must be a number of descriptors, but is \"many\""),
            ("42", "2147483647", nil, "LISTEN_FDS must be a number of descriptors, but is \"2147483647\""),
            ("42", "2", "one", "LISTEN_FDNAMES has 1 names for 2 descriptors: \"one\""),
            ("42", "0", "one", "LISTEN_FDNAMES has 1 names for 0 descriptors: \"one\""),
            ("42", "1", "a\nb", "LISTEN_FDNAMES has \"a\\nb\", which is not a valid name of a descriptor"),
            (
                "42", "1", "a\u{7F}",
                "LISTEN_FDNAMES has \"a\\u{7F}\", which is not a valid name of a descriptor"
            ),
            (
                "0", "1", nil,
                "LISTEN_PID must be a process id, but is \"0\", so the sockets belong to no process"
            ),
            (
                "1", "1", nil,
                "LISTEN_PID is 1, and this process is 42: the sockets are meant for another one; start this program "
                    + "without a shell or a wrapper in between"
            ),
        ] as [(String?, String?, String?, String)])
    func refused(process: String?, count: String?, names: String?, sentence: String) {
        #expect(throws: FutureError.invalidArgument(sentence)) { try parse(process, count, names) }
    }

    @Test("the longest number, list and name are taken, and none that is longer by one")
    func longest() throws {
        #expect(try parse("42", "65536").count == 65_536)
        #expect(throws: FutureError.self) { try parse("42", "65537") }
        let name = String(repeating: "a", count: 255)
        #expect(try parse("42", "1", name).map(\.name) == [name])
        #expect(throws: FutureError.self) { try parse("42", "1", name + "a") }
        let zeros = String(repeating: "0", count: 16)
        #expect(try parse(zeros + "42", "1").count == 1)
        #expect(throws: FutureError.self) { try parse(zeros + "042", "1") }
    }

    @Test("a variable is quoted as a whole up to 200 bytes, and else its first 100 characters")
    func quoted() {
        let text = String(repeating: "x", count: 201)
        for (value, quoted) in [
            (text.dropLast(), "\"\(text.dropLast())\""), (text[...], "\"\(text.prefix(100))\"…"),
        ] {
            #expect(
                complaint { _ = try parse("42", String(value)) }
                    == "LISTEN_FDS must be a number of descriptors, but is \(quoted)")
        }
    }

    @Test("whatever the variables hold, what is passed on makes sense, or one line says why not")
    func anything() throws {
        var generator = SeededGenerator()
        var taken = 0
        let valid = ["42", "3", "http:https:admin"]
        for _ in 0..<largeCount {
            let values = valid.map { mutated($0, &generator) }
            do {
                let sockets = try parse(values[0], values[1], values[2])
                taken += sockets.isEmpty ? 0 : 1
                let descriptors = Array(3..<Int32(3 + sockets.count))
                try #require(sockets.map(\.descriptor) == descriptors)
                try #require(sockets.isEmpty || Int(values[0] ?? "") == 42)
                try #require(sockets.isEmpty || Int(values[1] ?? "") == sockets.count)
                let names = sockets.map(\.name).joined(separator: ":")
                try #require(sockets.isEmpty || values[2] == nil || names == values[2])
            } catch FutureError.invalidArgument(let text) {
                try #require(text.utf8.count < 2_000 && !text.contains("\n"))
            }
        }
        // They are not all refused for their first byte.
        #expect(taken > largeCount / 100)
    }

    private func mutated(_ text: String, _ generator: inout SeededGenerator) -> String? {
        if generator.below(2) == 0 { return text }
        if generator.below(10) == 0 { return nil }
        if generator.below(10) == 0 {
            return String(decoding: generator.bytes(generator.below(40), below: 255), as: UTF8.self)
        }
        var bytes = Array(text.utf8)
        for _ in 0...generator.below(3) {
            let place = generator.below(bytes.count + 1)
            switch generator.below(3) {
            case 0 where place < bytes.count: bytes.remove(at: place)
            case 1 where place < bytes.count: bytes[place] = UInt8(generator.below(256))
            default: bytes.insert([48, 49, 58, 58, 45, 0, 255][generator.below(7)], at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "the variables are read in time that their size is in proportion to",
        arguments: ["a:", ":", "a", "\u{FC}"])
    func growth(part: String) {
        expectLinear(from: 1024, upTo: 1 << 20) { size in
            let names = String(repeating: part, count: size / part.utf8.count)
            return {
                for count in ["\(size)", names] {
                    _ = try? ActivatedSocket.parse(process: "1", count: count, names: names, ownProcess: 1)
                }
            }
        }
    }
}
