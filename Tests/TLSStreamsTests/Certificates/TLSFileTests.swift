import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSFileTests {
    @Test("files are read again by a reload, and one that fails changes nothing")
    func files() throws {
        try withLoop { loop in
            let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let (certificate, key) = (directory.appending(path: "a.pem"), directory.appending(path: "a.key"))
            func write(_ authority: Authority) throws {
                try authority.certificate.write(to: certificate, atomically: true, encoding: .utf8)
                try authority.key.pem.write(to: key, atomically: true, encoding: .utf8)
            }
            try write(Authority.server)
            let identity = TLSIdentity(certificates: .path(certificate.path()), key: .path(key.path()))
            let context = try loop.server(TLSServerConfiguration(identity: identity))
            try write(Authority.root.sign(Wish(commonName: "renewed", serial: 8)))
            try context.reload()
            #expect(context.certificate?.subject == "CN=renewed")
            // A path does not end at a zero byte.
            #expect(
                complaint {
                    let identity = TLSIdentity(
                        certificates: .path(certificate.path() + "\0evil"), key: .path(key.path()))
                    _ = try loop.server(TLSServerConfiguration(identity: identity))
                }?.hasSuffix("give the path of a PEM file that this process may read") == true)
            try FileManager.default.removeItem(at: key)
            #expect(
                complaint { try context.reload() }
                    == "a private key cannot be read from \(key.path()); give the path of a "
                    + "PEM file that this process may read")
            #expect(context.certificate?.subject == "CN=renewed")
            try loop.close(try loop.pair(context))
        }
    }
}
