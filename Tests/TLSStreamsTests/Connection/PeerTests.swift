import Foundation
import FuturesTesting
import TLSStreams
import Testing
import UVFutures

/// A program that speaks TLS, and what it is to print.
struct Peer: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// A command of the shell. `$PORT` is the port of our server, `$DIR` has certificates.
    let command: String
    var expected = "hello"

    private static let openssl =
        "openssl s_client -connect 127.0.0.1:$PORT -servername localhost -CAfile ca.pem -verify_return_error "
        + "-verify_hostname localhost"
    private static let python = """
        python3 -c 'import socket, ssl, sys
        context = ssl.create_default_context(cafile="ca.pem")
        EXTRA
        with socket.create_connection(("127.0.0.1", int("'$PORT'"))) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as s:
                s.sendall(b"hello\\n")
                print(s.makefile().readline(), end="")
                plain = s.unwrap()'
        """
    private static func gnutls(_ version: String = "1.3") -> String {
        "gnutls-cli --x509cafile ca.pem --sni-hostname localhost --verify-hostname localhost -p $PORT --inline-commands "
            + "--priority NORMAL:-VERS-ALL:+VERS-TLS\(version) 127.0.0.1"
    }
    private static func node(_ version: String) -> String {
        """
        node -e 'const s = require("tls").connect({port: +"'$PORT'", host: "127.0.0.1", servername: "localhost",
            ca: require("fs").readFileSync("ca.pem"), minVersion: "\(version)", maxVersion: "\(version)"},
            () => s.write("hello\\n")); s.on("data", (d) => process.stdout.write(d)); s.on("end", () => s.end())'
        """
    }

    /// Clients of our server.
    static let clients = [
        Peer(testDescription: "openssl, 1.3", command: "echo hello | \(openssl) -quiet -tls1_3"),
        Peer(testDescription: "openssl, 1.2", command: "echo hello | \(openssl) -quiet -tls1_2"),
        Peer(
            testDescription: "openssl, with a certificate",
            command: "echo hello | \(openssl) -quiet -cert client.pem -key client.key"),
        Peer(
            testDescription: "openssl, resuming",
            command: "echo hello | \(openssl) -quiet -tls1_2 -sess_out s >/dev/null; "
                + "(echo hello; sleep 0.3) | \(openssl) -tls1_2 -sess_in s -ign_eof | grep -aoE '^(Reused|hello)'",
            expected: "Reused\nhello"),
        Peer(
            testDescription: "openssl, another protocol",
            command: "echo | \(openssl) -alpn none 2>&1 | grep -ao 'no application protocol' | head -1",
            expected: "no application protocol"),
        Peer(
            testDescription: "openssl, 1.1",
            command:
                "echo | \(openssl) -tls1_1 -cipher ALL:@SECLEVEL=0 2>&1 | grep -ao 'alert protocol version' | head -1",
            expected: "alert protocol version"),
        Peer(
            testDescription: "openssl, renewing keys",
            command:
                "(sleep 0.3; echo K; sleep 0.3; echo hello; sleep 0.3) | \(openssl) -tls1_3 2>&1 | grep -aE '^(KEYUPDATE|hello)'",
            expected: "KEYUPDATE\nhello"),
        Peer(
            testDescription: "openssl, renegotiating",
            command:
                "(sleep 0.3; echo R; sleep 0.3) | \(openssl) -tls1_2 2>&1 | grep -aoE 'RENEGOTIATING|no renegotiation' | head -2",
            expected: "RENEGOTIATING\nno renegotiation"),
        Peer(
            testDescription: "GnuTLS, 1.3",
            command: "(echo hello; sleep 0.5) | \(gnutls()) | grep -axE 'hello'"),
        Peer(
            testDescription: "GnuTLS, 1.2",
            command: "(echo hello; sleep 0.5) | \(gnutls("1.2")) | grep -axE 'hello'"),
        Peer(
            testDescription: "GnuTLS, with a certificate",
            command: "(echo hello; sleep 0.5) | \(gnutls()) --x509certfile client.pem "
                + "--x509keyfile client.key | grep -axE 'hello'"),
        Peer(
            testDescription: "GnuTLS, resuming",
            command: "(echo hello; sleep 0.5) | \(gnutls()) --resume | grep -aoxE 'hello|.*resumed session'",
            expected: "*** This is a resumed session\nhello"),
        Peer(
            testDescription: "GnuTLS, renewing keys",
            command: "(echo ^rekey^; sleep 0.3; echo hello; sleep 0.5) | \(gnutls()) "
                + "| grep -aoxE 'hello|- Rekey was completed'",
            expected: "- Rekey was completed\nhello"),
        Peer(
            testDescription: "GnuTLS, renegotiating",
            command: "(echo ^renegotiate^; sleep 0.5) | \(gnutls("1.2")) 2>&1 "
                + "| grep -aoE 'No renegotiation is allowed' | head -1",
            expected: "No renegotiation is allowed"),
        Peer(testDescription: "Python, 1.3", command: python.replacing("EXTRA", with: "")),
        Peer(
            testDescription: "Python, 1.2",
            command: python.replacing("EXTRA", with: "context.maximum_version = ssl.TLSVersion.TLSv1_2")),
        Peer(testDescription: "Node.js, 1.3", command: node("TLSv1.3")),
        Peer(testDescription: "Node.js, 1.2", command: node("TLSv1.2")),
        Peer(
            testDescription: "curl",
            command:
                "curl -sS --http1.1 --cacert ca.pem --resolve localhost:$PORT:127.0.0.1 https://localhost:$PORT/"
        ),
    ]

    /// Servers for our client, which print their port and send each line back, most of them reversed.
    static let servers = [
        Peer(testDescription: "openssl, 1.3", command: server("-tls1_3"), expected: "olleh"),
        Peer(testDescription: "openssl, 1.2", command: server("-tls1_2"), expected: "olleh"),
        Peer(
            testDescription: "openssl, asking for a certificate", command: server("-Verify 1 -CAfile ca.pem"),
            expected: "olleh"),
        Peer(
            testDescription: "Python",
            command: """
                exec python3 -c 'import socket, ssl
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain("server.pem", "server.key")
                with socket.create_server(("127.0.0.1", 0)) as server:
                    print(":%d" % server.getsockname()[1], flush=True)
                    while True:
                        plain, _ = server.accept()
                        with context.wrap_socket(plain, server_side=True) as s:
                            line = s.makefile().readline()
                            s.sendall(line[::-1].strip().encode() + b"\\n")
                            s.unwrap()'
                """, expected: "olleh"),
        // It does not say which port it was given.
        Peer(
            testDescription: "GnuTLS",
            command: """
                python3 -c 'import glob, os
                port = None
                while not port:
                    links = [os.readlink(path) for path in glob.glob("/proc/'$$'/fd/*") if os.path.islink(path)]
                    for line in open("/proc/net/tcp"):
                        words = line.split()
                        if words[3] == "0A" and f"socket:[{words[9]}]" in links: port = int(words[1][9:], 16)
                print(f":{port}", flush=True)' &
                exec gnutls-serv --echo --port 0 --x509certfile server.pem --x509keyfile server.key \\
                    --disable-client-cert >/dev/null
                """),
        Peer(
            testDescription: "Node.js",
            command: """
                exec node -e 'const fs = require("fs"); const server = require("tls").createServer({
                    cert: fs.readFileSync("server.pem"), key: fs.readFileSync("server.key")}, (s) => s.on("data", (d) =>
                    s.end(d.toString().trim().split("").reverse().join("") + "\\n")));
                server.listen(0, "127.0.0.1", () => console.log(":" + server.address().port))'
                """, expected: "olleh"),
    ]

    private static func server(_ options: String) -> String {
        "exec openssl s_server -accept 127.0.0.1:0 -rev -cert server.pem -key server.key \(options)"
    }
}

/// Each peer is a program of its own, so these take a while.
@Suite(.serialized)
struct PeerTests {
    @Test("clients of other makers", arguments: Peer.clients)
    func clients(peer: Peer) throws {
        try withDirectory { directory, loop in
            var configuration = TLSServerConfiguration.usual
            configuration.clientCertificates = .requested
            configuration.trust = .authorities([Authority.root.file])
            configuration.parameters.protocols = ["http/1.1"]
            var subjects: [String?] = []
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(configuration)
            ) { connection -> Future<Void> in
                subjects.append(connection.peerCertificate?.subject)
                return connection.readLine().flatMap { line in
                    guard line?.starts(with: "GET ".utf8) == true else {
                        return connection.write((line ?? Data()) + Data("\n".utf8))
                    }
                    return connection.read(until: Data("\r\n\r\n".utf8)).flatMap { _ in
                        connection.write("HTTP/1.0 200 OK\r\n\r\nhello\n")
                    }
                }
            }
            server.onConnectionError = { _ in }
            let client = program(peer.command, in: directory, port: server.localAddress.port)
            let outcome = try loop.run(until: ChildProcess.run(client, timeout: .seconds(60), on: loop))
            let said = String(decoding: outcome.standardOutput, as: UTF8.self)
            #expect(said.trimmingCharacters(in: .whitespacesAndNewlines) == peer.expected)
            if peer.testDescription.contains("with a certificate") { #expect(subjects == ["CN=client"]) }
            _ = try loop.run(until: server.shutdown(within: .seconds(1)))
        }
    }

    @Test(
        "openssl resumes as the same name, and meets the demands of another",
        arguments: ["-tls1_2", "-tls1_3"], ["main.test", "MAIN.TEST", "other.test", "OTHER.TEST"])
    func openssl(version: String, name: String) throws {
        try withDirectory { directory, loop in
            var strict = TLSServerConfiguration.usual
            strict.clientCertificates = .required
            strict.trust = .authorities([Authority.root.file])
            let strictContext = try loop.server(strict)
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { name in
                loop.succeeded(name == "other.test" ? strictContext : nil)
            }
            var served: [String] = []
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: 0, context: try loop.server(configuration)
            ) { connection -> Future<Void> in
                served.append("\(connection.serverName ?? "") \(connection.isResumed)")
                return connection.readLine().flatMap { _ in connection.write("hello\n") }
            }
            server.onConnectionError = { _ in }
            let client = "| openssl s_client -connect 127.0.0.1:$PORT \(version) -quiet"
            let command = """
                echo hello \(client) -servername main.test -sess_out s
                echo hello \(client) -servername \(name) -sess_in s
                """
            let outcome = try loop.run(
                until: ChildProcess.run(
                    program(command, in: directory, port: server.localAddress.port), timeout: .seconds(60),
                    on: loop))
            let isMain = name.lowercased() == "main.test"
            #expect(served == ["main.test false"] + (isMain ? ["main.test true"] : []))
            #expect(
                String(decoding: outcome.standardOutput, as: UTF8.self)
                    == (isMain ? "hello\nhello\n" : "hello\n"))
            #expect(server.handshakes.failed == (isMain ? [:] : [.noCertificate: 1]))
            _ = try loop.run(until: server.shutdown(within: .seconds(1)))
        }
    }

    @Test("servers of other makers", arguments: Peer.servers)
    func servers(peer: Peer) throws {
        try withDirectory { directory, loop in
            var server = program(peer.command, in: directory, port: 0)
            server.standardOutput = .stream
            let process = try ChildProcess.start(server, on: loop)
            let output = try #require(process.standardOutput)
            var port: Int?
            while port == nil {
                let line = String(
                    decoding: try #require(try loop.run(until: output.readLine())), as: UTF8.self)
                port = line.split(separator: ":").last.flatMap { line.contains(":") ? Int($0) : nil }
            }
            var configuration = TLSClientConfiguration.usual
            configuration.identity = Authority.client.identity()
            let context = try loop.client(configuration)
            for _ in 0..<2 {
                let client = try loop.run(
                    until: TLSConnection.connect(
                        host: "localhost", port: try #require(port), context: context))
                client.write("hello\n")
                #expect(try loop.run(until: client.readLine()) == Data(peer.expected.utf8))
                try loop.run(until: client.close())
            }
            try loop.run(until: output.close())
            _ = try loop.run(until: process.end(within: .zero))
        }
    }

    private func program(_ command: String, in directory: URL, port: Int) -> ChildProcess.Configuration {
        var program = ChildProcess.Configuration("/bin/sh", "-c", command)
        program.workingDirectory = directory.path()
        program.environment = .inheriting(with: ["PORT": "\(port)"])
        program.standardError = .null
        return program
    }
}
