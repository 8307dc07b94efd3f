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
    func `a client that has it already is told so`(_ name: String, _ value: String, _ isNotModified: Bool) {
        var fields = Fields()
        fields.append(name, value)
        #expect(validators.isNotModified(fields) == isNotModified)
    }

    @Test func `a tag counts more than a date`() {
        var fields = Fields()
        fields.append("If-None-Match", "\"x\"")
        fields.append("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(!validators.isNotModified(fields))
    }

    @Test(arguments: [
        ("\"a,b\"", true), ("W/\"a,b\"", false), ("\"x\"", false), ("Sun, 06 Nov 1994 08:49:37 GMT", true),
        ("Sun, 06 Nov 1994 08:49:38 GMT", false),
    ])
    func `a range of what has changed is not sent`(_ condition: String, _ allows: Bool) {
        var fields = Fields()
        #expect(validators.allowsRange(fields))
        fields.append("If-Range", condition)
        #expect(validators.allowsRange(fields) == allows)
    }
}
