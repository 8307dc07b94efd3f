import CHeap
import Foundation
import FuturesTesting
import Glibc
import TLSStreams
import TestSupport
import Testing
import UVFutures

/// In processes of their own, whose whole memory is searched. That of a sanitizer is too large.
@Suite(.enabled(if: !isSanitized))
struct PrivateKeyTests {
    /// How a key gets into a context.
    enum Way: String, CaseIterable, Codable, CustomTestStringConvertible {
        case file, encryptedFile, signingOnPool, reload, refused

        var testDescription: String { rawValue }
        var passphrase: String? { self == .encryptedFile ? "open sesame" : nil }
    }

    @Test("no copy of a private key is left in memory when its context is released", arguments: Way.allCases)
    func wiped(way: Way) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let plain = Authority.server.key.pem
        let key = way.passphrase.map { Authority.server.key.encrypted(with: $0) } ?? plain
        for (name, text) in [
            ("ca.pem", Authority.root.certificate), ("server.pem", Authority.server.certificate),
            ("server.key", key),
            ("other.pem", Authority.client.certificate), ("other.key", Authority.client.key.pem),
        ] {
            try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
        }
        let lines = plain.split(separator: "\n")
        let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
        // The number that is the key, behind its tag and its size.
        let start = try #require(der.firstRange(of: Data([0x02, 0x01, 0x01, 0x04, 0x20]))).upperBound
        let number = [UInt8](der[start..<start + 32])
        // As OpenSSL computes with it, and as the file has it. What its own parser frees in between, it does not clear.
        let needles = [Needle(number.reversed()), Needle(lines[2].utf8.prefix(40))]

        await #expect(processExitsWith: .success) {
            [way, needles = needles as [Needle], path = directory.path() as String] in
            try withLoop(.system) { loop in
                let certificates = (path + "/server.pem", path + "/server.key")
                if way == .refused {
                    let wrong = TLSIdentity(
                        certificates: .path(path + "/other.pem"), key: .path(certificates.1))
                    #expect(throws: FutureError.self) {
                        try TLSContext.server(TLSServerConfiguration(identity: wrong), on: loop)
                    }
                } else {
                    let identity = TLSIdentity(
                        certificates: .path(certificates.0), key: .path(certificates.1),
                        passphrase: way.passphrase,
                        signingOn: way == .signingOnPool ? .pool : nil)
                    var trusting = TLSClientConfiguration()
                    trusting.trust = .authorities([.path(path + "/ca.pem")])
                    let server = try TLSContext.server(TLSServerConfiguration(identity: identity), on: loop)
                    try loop.close(loop.pair(server, try .client(trusting, on: loop)))
                    #expect(needles[0].copies() > 0, "The search finds what there is.")
                    if way == .reload {
                        let other = TLSIdentity(
                            certificates: .path(path + "/other.pem"), key: .path(path + "/other.key"))
                        try server.reload(TLSServerConfiguration(identity: other))
                        Self.expectNone(needles)
                    }
                    withExtendedLifetime(server) {}
                }
            }
            Self.expectNone(needles)
        }
    }

    private static func expectNone(_ needles: [Needle]) {
        #expect(needles[0].copies() == 0, "the number")
        #expect(needles[1].copies() == 0, "the text")
    }

    /// Bytes that a process can look for without having them in its memory.
    struct Needle: Codable {
        private static let mask: UInt8 = 0xA5
        let masked: [UInt8]

        init(_ bytes: some Sequence<UInt8>) { masked = bytes.map { $0 ^ Self.mask } }

        /// The number of places in the memory of this process that have these bytes.
        func copies() -> Int {
            let own = UnsafeMutableRawBufferPointer.allocate(byteCount: masked.count, alignment: 1)
            defer {
                unsafe memset(own.baseAddress!, 0, own.count)
                unsafe own.deallocate()
            }
            for (index, byte) in masked.enumerated() { unsafe own[index] = byte ^ Self.mask }
            let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
            return maps.split(separator: "\n").reduce(0) { count, line in
                let words = line.split(separator: " ")
                let ends = words[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
                guard words[1].hasPrefix("rw") else { return count }
                return unsafe count + places(of: own, from: ends[0], to: ends[1])
            }
        }

        private func places(of own: UnsafeMutableRawBufferPointer, from start: UInt, to end: UInt) -> Int {
            var (count, next) = (0, start)
            while next < end,
                let place = unsafe memmem(
                    UnsafeRawPointer(bitPattern: next)!, Int(end - next), own.baseAddress!, own.count)
            {
                if unsafe UnsafeRawPointer(place) != UnsafeRawPointer(own.baseAddress!) { count += 1 }
                next = UInt(bitPattern: place) + 1
            }
            return count
        }
    }
}
