import HTTP1
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
    ])
    func `a date is written and read`(_ seconds: Int, _ text: String) {
        #expect("\(HTTPDate(seconds: seconds))" == text)
        #expect(HTTPDate(text)?.seconds == seconds)
    }

    @Test func `each day of four centuries is read as it was written`() {
        for day in 0..<146_097 {
            let date = HTTPDate(seconds: day * 86_400 + 5)
            if HTTPDate("\(date)") != date { Issue.record("\(date)") }
        }
    }

    @Test(arguments: [
        "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:+9:37 GMT",
    ])
    func `what is no such date is ignored`(_ text: String) { #expect(HTTPDate(text) == nil) }
}
