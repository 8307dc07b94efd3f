import HTTP1
import Testing

struct HTTPErrorTests {
    @Test func `each error has a status of a client's or a server's error, and a text of its own`() {
        for error in HTTPError.allCases {
            #expect([400, 413, 414, 417, 431, 501, 505].contains(error.status))
        }
        #expect(Set(HTTPError.allCases.map(\.description)).count == HTTPError.allCases.count)
        #expect(HTTPError.bareLineFeed.description == "a line ends in LF alone; end each line with CR LF")
        #expect(HTTPError.missingHost.description == "there is no Host field, which HTTP/1.1 demands")
    }

    @Test(
        arguments: [
            ("HEAD / HTTP/1.1\r\n\r\n", true), ("\r\nHEAD / HTTP/1.1\r\nX\r\n", true),
            ("HEAD / HTTP/3.0\r\n", true),
            ("HEAD /\n", true), ("HEAD /" + String(repeating: "a", count: 9000), true),
            ("HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", true),
            ("GET / HTTP/1.1\r\n\r\n", false), ("HEADER / HTTP/1.1\r\n\r\n", false),
            ("head / HTTP/1.1\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nHEAD x\r\n", false),
            ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET\r\n", false), ("\n", false),
        ])
    func `of a request that was refused, it is known whether it is a HEAD`(_ text: String, _ isHead: Bool)
        throws
    {
        var parser = RequestParser()
        var rest = [UInt8](text.utf8)
        let refused = #expect(throws: RefusedRequest.self) {
            while let frame = try parser.decode(rest.span.bytes, isAtEnd: false) {
                rest.removeFirst(frame.byteCount)
            }
        }
        #expect(refused?.isHead == isHead)
    }

    @Test func `after an error all calls throw the same one`() {
        var parser = RequestParser()
        for _ in 0..<2 {
            #expect(throws: HTTPError.bareLineFeed) {
                try parser.next([UInt8]("GET / HTTP/1.1\n".utf8).span.bytes)
            }
        }
    }
}
