import Testing
import UVFutures

struct ProxyProtocolErrorTests {
    @Test("an error of a proxy's header says what happened and what to do")
    func texts() throws {
        let texts: [(ProxyProtocolError, String)] = [
            (
                .missing(byte: 3),
                "the connection does not begin with a PROXY header: its byte 3 is wrong; let the proxy send one, for example "
                    + "by send-proxy-v2, or leave proxyProtocol unset"
            ),
            (.malformed(.v1, "no port"), "the PROXY header of version 1 is wrong: no port"),
            (
                .tooLong(limit: 536),
                "the PROXY header has more than 536 bytes; if it is what the proxy should send, raise "
                    + "ProxyProtocol.maximumSize"
            ),
            (.wrongChecksum, "the PROXY header has arrived damaged: its checksum is wrong"),
            (
                .incomplete(received: 12),
                "the peer finished sending in the middle of its PROXY header, after 12 bytes"
            ),
            (
                .timedOut(after: .seconds(5)),
                "the PROXY header was not complete after 5.0 seconds; let the proxy send it at once"
            ),
            (
                .untrusted(try SocketAddress(host: "192.0.2.1", port: 80)),
                "192.0.2.1:80 is not trusted to send a PROXY header; connect by the proxy, or trust it in "
                    + "ProxyProtocol.isTrusted"
            ),
            (
                .untrusted(nil),
                "a peer without an address is not trusted to send a PROXY header; connect by the proxy, or trust it in "
                    + "ProxyProtocol.isTrusted"
            ),
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
    }
}
