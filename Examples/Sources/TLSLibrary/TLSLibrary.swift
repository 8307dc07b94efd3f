// A Swift library that makes an encrypted connection to itself, in whatever process has loaded it. That may have an OpenSSL of
// its own.
import TLSStreams
import UVFutures

/// Connects, and sends a line there and back. Returns what was agreed on, in `text`, or why it did not work.
@c(tls_try) public func tlsTry(
    _ certificates: UnsafePointer<CChar>, _ key: UnsafePointer<CChar>, _ authority: UnsafePointer<CChar>,
    _ text: UnsafeMutablePointer<CChar>, _ capacity: CInt
) {
    let outcome: String
    do {
        let identity = TLSIdentity(
            certificates: .path(String(cString: certificates)), key: .path(String(cString: key)),
            signingOn: .pool)
        outcome = try connect(to: identity, trusting: .path(String(cString: authority)))
    } catch {
        outcome = "\(error)"
    }
    for (index, character) in (outcome.utf8CString.prefix(Int(capacity) - 1) + [0]).enumerated() {
        text[index] = character
    }
}

private func connect(to identity: TLSIdentity, trusting authority: TLSFile) throws -> String {
    let loop = try EventLoop()
    defer { loop.shutdown() }
    let server = try TLSServer.listen(
        host: "127.0.0.1", port: 0,
        context: TLSContext.server(TLSServerConfiguration(identity: identity), on: loop)
    ) { connection in
        connection.forEachChunk { connection.write($0) }
    }
    var configuration = TLSClientConfiguration()
    configuration.trust = .authorities([authority])
    let client = TLSConnection.connect(
        host: "127.0.0.1", port: server.tcp.localAddress.port,
        context: try TLSContext.client(configuration, on: loop))
    return try loop.run(
        until: client.flatMap { connection in
            connection.write("hello\n")
            return connection.readLine().unwrap().map { line in
                "\(connection.version), \(line.text)"
            }
            .always { connection.close() }
        })
}
