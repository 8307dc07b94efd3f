import HTTP1
import Testing

func head(_ text: String) throws -> RequestHead {
    var parser = RequestParser()
    let bytes = [UInt8](text.utf8)
    guard case (.head(let head), bytes.count)? = try parser.next(bytes.span.bytes) else {
        throw HTTPError.unexpectedEnd
    }
    return head
}

struct RequestHeadTests {
    private func head(line: String, _ fields: String = "") throws -> RequestHead {
        try HTTP1Tests.head("\(line)\r\nHost: a\r\n\(fields)\r\n")
    }

    @Test(
        arguments: [
            ("/", "/", nil), ("/a/b?c=d?e", "/a/b", "c=d?e"), ("/?", "/", ""), ("http://h:8/a?b", "/a", "b"),
            ("http://h", "", nil), ("/a:b?", "/a:b", ""),
        ] as [(String, String, String?)])
    func `a target has a path and a query`(_ target: String, _ path: String, _ query: String?) throws {
        let head = try head(line: "GET \(target) HTTP/1.1")
        #expect(head.target == target)
        #expect(head.path == path)
        #expect(head.query == query)
    }

    @Test(
        arguments: [
            ("/a/b", "b"), ("/a/", ""), ("/a/b?c", "b"), ("/a", nil), ("/b/a/", nil), ("http://h/a/b", "b"),
            ("http://h", nil),
        ] as [(String, String?)])
    func `what follows the beginning of a path is found`(_ target: String, _ rest: String?) throws {
        #expect(try head(line: "GET \(target) HTTP/1.1").path(after: "/a/") == rest)
    }

    @Test(
        arguments: [
            ("/a%20b", "/a b"), ("/%e2%82%aC", "/€"), ("/%2e%2e", "/.."), ("/%00", nil), ("/%4", nil),
            ("/%", nil),
            ("/%zz", nil), ("/%ff", nil),
        ] as [(String, String?)])
    func `escapes of a path are replaced`(_ path: String, _ decoded: String?) throws {
        #expect(try head(line: "GET \(path) HTTP/1.1").decodedPath == decoded)
    }

    @Test(arguments: [
        ("1.1", "", true), ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: x, Close\r\n", false),
        ("1.0", "", false), ("1.0", "Connection: keep-alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ])
    func `a client says whether it keeps the connection`(_ version: String, _ fields: String, _ keeps: Bool)
        throws
    {
        #expect(try head(line: "GET / HTTP/\(version)", fields).keepsAlive == keeps)
    }

    @Test func `fields are found whatever their case`() throws {
        let head = try head(line: "GET / HTTP/1.1", "aCCept:  x \r\nAccept: y\r\n")
        #expect(head.fields["accept"] == "x, y")
        #expect(head.fields["none"] == nil)
        #expect(head.fields[1].name == "aCCept")
        #expect(head.fields.contains("y", in: "accept"))
        #expect(!head.fields.contains("z", in: "accept"))
    }

    @Test func `a head that is kept does not change with the next one`() throws {
        var parser = RequestParser()
        func next(_ path: String) throws -> RequestHead {
            let bytes = [UInt8]("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            guard case (.head(let head), _)? = try parser.next(bytes.span.bytes) else {
                throw HTTPError.unexpectedEnd
            }
            return head
        }
        let kept = try next("/first")
        #expect(try next("/second").path == "/second")
        #expect(kept.path == "/first")
    }
}
