import FuturesTesting
import TLSStreams
import Testing
import UVFutures

@testable import HealthChecker

struct HealthCheckerTests {
    @Test(arguments: [
        ("tcp://h:1", "tcp h 1 h:1 /"), ("HTTP://h", "http h 80 h /"), ("http://h:80?x", "http h 80 h /?x"),
        ("http://h?x=/y", "http h 80 h /?x=/y"), ("http://h:8080/a?b#c", "http h 8080 h:8080 /a?b"),
        ("http://h#c", "http h 80 h /"), ("http://h:/", "http h 80 h /"),
        ("https://[::1]:8443/", "https ::1 8443 [::1]:8443 /"),
        ("https://[::1]", "https ::1 443 [::1] /"), ("Tls://h", "tls h 443 h /"),
        ("http://h:0443/", "http h 443 h:443 /"),
        ("http://h/%20a%2Fb", "http h 80 h /%20a%2Fb"),
    ])
    func `a target is read as RFC 3986 says`(_ text: String, _ expected: String) throws {
        let target = try Target(text)
        #expect("\(target.kind) \(target.host) \(target.port) \(target.authority) \(target.path)" == expected)
        #expect("\(target)" == text)
    }

    @Test(arguments: [
        ("h:1", "is no target; write KIND://HOST:PORT, where KIND is one of tcp, udp, tls, http, https"),
        ("ftp://h", "is no target; write KIND://HOST:PORT, where KIND is one of tcp, udp, tls, http, https"),
        (
            "http://[::1",
            "is no target; write KIND://HOST:PORT, where KIND is one of tcp, udp, tls, http, https"
        ),
        (
            "http://h /",
            "is no target; write KIND://HOST:PORT, where KIND is one of tcp, udp, tls, http, https"
        ),
        ("http:///x", "has no host"), ("tcp://h", "has no port; write tcp://h:PORT"),
        ("http://h:0", "has port 0; give 1 to 65535"), ("tcp://h:99999", "has port 99999; give 1 to 65535"),
        ("tcp://h:1/x", "has a path, which only HTTP has"),
        ("udp://h:1?x", "has a path, which only HTTP has"),
        ("http://a@h/", "has a user, as whom nobody can log in here"),
    ])
    func `what is no target is refused`(_ text: String, _ expected: String) throws {
        let error = #expect(throws: (any Error).self) { try Target(text) }
        #expect("\(try #require(error))" == "\"\(text)\" \(expected)")
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", "status 200"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\n\r\n", "answered with status 503"),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 \r\n\r\nHTTP/1.0 204 \u{1b}[2J\r\n\r\n",
            ""
        ),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 \r\n\r\nHTTP/1.0 204 No\r\n\r\n",
            "status 204"
        ),
        ("HTTP/1.1 101 Switching\r\n\r\n", "answered with status 101"), ("", "closed without an answer"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "closed without an answer"),
        ("SSH-2.0-x\r\n", "answered with no HTTP: "),
        ("HTTP/1.1 20\r\n\r\n", "answered with no HTTP: "),
    ])
    func `an answer is the first one that does more than inform`(_ answer: String, _ expected: String) throws
    {
        let world = World(seed: 1)
        try world.addHost("server") { host in
            let server = try TCPServer.listen(host: "0.0.0.0", port: 80, on: host.loop) { connection in
                connection.write(answer)
                connection.shutdownWrite()
                return connection.readToEnd().map { _ in }
            }
            server.onConnectionError = { _ in }
        }
        let loop = try world.addHost("client").loop
        let checker = Checker(
            loop: loop, context: try TLSContext.client(on: loop), timeout: .seconds(5), attempts: 1,
            leastDays: 1)
        let finding = try world.run(until: checker.check(try Target("http://server")))
        #expect(finding.detail.hasPrefix(expected))
        #expect((finding.state == .up) == expected.hasPrefix("status"))
    }
}
