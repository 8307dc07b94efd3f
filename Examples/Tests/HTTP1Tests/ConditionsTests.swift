import HTTP1
import Testing

struct ConditionsTests {
    private let validators = Validators(tag: "\"a,b\"", modified: HTTPDate(seconds: 784_111_777))

    @Test(arguments: [
        ("If-None-Match", "\"a,b\"", true), ("If-None-Match", "W/\"a,b\"", true),
        ("If-None-Match", "*", true),
        ("If-None-Match", "\"x\", \"a,b\"", true), ("If-None-Match", "\"a\", \"b\"", false),
        ("If-None-Match", "a,b", false), ("If-None-Match", "\"a,b", false), ("If-None-Match", "", false),
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", true),
        ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", false),
        ("If-Modified-Since", "yesterday", false),
    ])
    func `a client that has it already is told so`(_ name: String, _ value: String, _ isNotModified: Bool)
        throws
    {
        #expect(try validators.isNotModified(fields("\(name): \(value)")) == isNotModified)
    }

    private func fields(_ lines: String...) throws -> Fields {
        try head("GET / HTTP/1.0\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n").fields
    }

    @Test func `a tag counts more than a date`() throws {
        let both = try fields("If-None-Match: \"x\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(!validators.isNotModified(both))
    }

    @Test(arguments: [
        ("\"a,b\"", true), ("W/\"a,b\"", false), ("\"x\"", false), ("Sun, 06 Nov 1994 08:49:37 GMT", true),
        ("Sun, 06 Nov 1994 08:49:38 GMT", false),
    ])
    func `a range of what has changed is not sent`(_ condition: String, _ allows: Bool) throws {
        #expect(validators.allowsRange(Fields()))
        #expect(try validators.allowsRange(fields("If-Range: \(condition)")) == allows)
    }
}
