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

    @Test func `after an error all calls throw the same one`() {
        var parser = RequestParser()
        for _ in 0..<2 {
            #expect(throws: HTTPError.bareLineFeed) {
                try parser.next([UInt8]("GET / HTTP/1.1\n".utf8).span.bytes)
            }
        }
        #expect(!parser.isBetweenRequests)
    }
}
