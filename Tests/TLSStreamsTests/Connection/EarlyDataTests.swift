import CTLS
import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct EarlyDataTests {
    /// Our tickets allow no early data, so no client sends any that keeps to the rules.
    @Test("early data is refused, and the connection goes on without it")
    func refusal() throws {
        try withLoop { loop in
            let context = try loop.server()
            let first = try unsafe RawClient(on: loop, context)
            first.advance()
            let server = try loop.run(until: first.server)
            server.write("a line\n")
            loop.advance(by: .seconds(1))
            #expect(first.received == Data("a line\n".utf8))
            let session = try unsafe #require(SSL_get1_session(first.ssl))
            defer { unsafe SSL_SESSION_free(session) }
            #expect(unsafe SSL_SESSION_get_max_early_data(session) == 0)
            unsafe SSL_SESSION_set_max_early_data(session, 16_384)

            let second = try unsafe RawClient(on: loop, context, resuming: session)
            #expect(second.writeEarly("early\n") == 6)
            second.advance()
            let resumed = try loop.run(until: second.server)
            #expect(resumed.isResumed)
            #expect(unsafe SSL_get_early_data_status(second.ssl) == SSL_EARLY_DATA_REJECTED)
            second.write("late\n")
            #expect(try loop.run(until: resumed.readLine()) == Data("late".utf8))
            for client in [first, second] { client.stream.abort() }
            for server in [server, resumed] { server.abort() }
        }
    }
}

/// A client of OpenSSL's over a stream in memory, which may break rules, and the server at the other end.
@safe
private final class RawClient {
    let ssl: OpaquePointer
    let stream: MemoryStream
    let server: Future<TLSConnection>
    private(set) var received = Data()
    private let context: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    init(on loop: EventLoop, _ serverContext: TLSContext, resuming session: OpaquePointer? = nil) throws {
        let far: MemoryStream
        (stream, far) = try MemoryStream.pair(on: loop)
        server = far.startTLS(server: serverContext)
        unsafe context = SSL_CTX_new(TLS_client_method())
        unsafe ssl = SSL_new(context)
        unsafe incoming = BIO_new(BIO_s_mem())
        unsafe outgoing = BIO_new(BIO_s_mem())
        unsafe SSL_set_bio(ssl, incoming, outgoing)
        unsafe SSL_set_connect_state(ssl)
        if let session = unsafe session { unsafe SSL_set_session(ssl, session) }
        stream.forEachChunk { [unowned self] chunk in
            unsafe chunk.withUnsafeBytes { unsafe _ = BIO_write(incoming, $0.baseAddress, CInt($0.count)) }
            advance()
        }
        .ignoreFailure()
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    /// Goes on with the handshake, then reads what has come.
    func advance() {
        if unsafe SSL_do_handshake(ssl) == 1 {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = unsafe SSL_read(ssl, &bytes, CInt(bytes.count))
            if count > 0 { received += bytes.prefix(Int(count)) }
        }
        ERR_clear_error()
        flush()
    }

    func write(_ text: String) {
        unsafe _ = SSL_write(ssl, text, CInt(text.utf8.count))
        flush()
    }

    func writeEarly(_ text: String) -> Int {
        var count = 0
        unsafe SSL_write_early_data(ssl, text, text.utf8.count, &count)
        flush()
        return count
    }

    private func flush() {
        var bytes = [UInt8](repeating: 0, count: 20_000)
        let count = unsafe BIO_read(outgoing, &bytes, CInt(bytes.count))
        if count > 0 { stream.write(Data(bytes.prefix(Int(count)))) }
    }
}
