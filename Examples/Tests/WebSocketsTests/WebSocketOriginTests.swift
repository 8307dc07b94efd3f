import HTTP1
import Testing

@testable import WebSockets

struct WebSocketOriginTests {
    private static func isWanted(_ fields: String, of origins: [String] = []) throws -> Bool {
        var parser = RequestParser()
        let bytes = Array("GET /chat HTTP/1.1\r\nHost: Chat.example:7780\r\n\(fields)\r\n".utf8)
        guard case .head(let head)? = try parser.next(bytes.span.bytes)?.part else { return false }
        return WebSocketHandshake.isWanted(head, of: origins)
    }

    @Test(arguments: ["", "Origin: http://chat.example:7780\r\n", "Origin: https://chat.EXAMPLE:7780\r\n"])
    func `programs and pages of the same host may open a WebSocket`(_ fields: String) throws {
        #expect(try Self.isWanted(fields))
    }

    @Test(arguments: [
        "http://evil.example", "http://chat.example", "http://chat.example:7781", "null", "",
        "chat.example:7780",
        "http://chat.example:7780.evil.example", "http://evil.example/chat.example:7780", "file://",
        "http://chat.example:7780\r\nOrigin: http://chat.example:7780",
    ])
    func `pages of others may not`(_ origin: String) throws {
        #expect(try !Self.isWanted("Origin: \(origin)\r\n"))
    }

    @Test func `pages of a site that was given may`() throws {
        let origins = ["https://Site.example"]
        #expect(try Self.isWanted("Origin: https://site.example\r\n", of: origins))
        #expect(try !Self.isWanted("Origin: http://site.example\r\n", of: origins))
        #expect(try !Self.isWanted("Origin: https://site.example.evil\r\n", of: origins))
    }
}
