import Foundation
import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

/// What bad servers, forwarders and middleboxes do. `resolvers.py` does it, and writes what others make of it into a
/// table.
struct BadServerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// What is asked for: a name, or an address.
        let name: String
        /// What two of glibc, c-ares and unbound find.
        let agreed: Set<String>

        var testDescription: String { name }
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Checks/resolvers.py").path()

    static let cases: [Case] = {
        let table = try! String(contentsOfFile: script.dropLast(2) + "txt", encoding: .utf8)
        return table.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let columns = line.split(separator: " ")
            return Case(
                name: String(columns[0]),
                agreed: Set(columns[4].split(separator: ",").map(String.init)).subtracting(["-"]))
        }
    }()

    /// The datagrams that answer a query with the number 0, and the time after which each comes. Of each question, the
    /// first kind of query stands for those that are not there.
    private static let answers: [String: [(Duration, [UInt8])]] = {
        let loop = try! EventLoop()
        defer { loop.shutdown() }
        let program = ChildProcess.Configuration("/usr/bin/env", "python3", script, "--answers")
        let outcome = try! loop.run(until: ChildProcess.run(program, on: loop)).requireSuccess()
        return Dictionary(
            uniqueKeysWithValues: String(decoding: outcome.standardOutput, as: UTF8.self).split(
                separator: "\n"
            ).map { line in
                let words = line.split(separator: " ")
                return (words[..<5].joined(separator: " "), words[5...].map(datagram))
            })
    }()

    private static func datagram(_ word: Substring) -> (Duration, [UInt8]) {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts[1].utf8.map { $0 > UInt8(ascii: "9") ? $0 - 87 : $0 - 48 }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return (.milliseconds(Int(parts[0])!), bytes)
    }

    private static func answer(_ query: FakeServers.Query) -> [(Duration, [UInt8])] {
        let (reply, server) = (query.reply, query.server.host == "127.0.0.1" ? 0 : 1)
        let question = "\(reply.question.type.rawValue) \(query.name)"
        let kind = "\(server) \(query.isByConnection ? "tcp" : "udp") \(reply.takesLargeAnswers ? 1 : 0)"
        guard let found = answers["\(kind) \(question)"] ?? answers["0 udp 0 \(question)"] else {
            var missing = reply
            missing.fail(.nameNotFound)
            return [(.zero, missing.bytes)]
        }
        return found.map { delay, bytes in
            guard bytes.count > 1 else { return (delay, bytes) }
            return (delay, [bytes[0] ^ query.bytes[0], bytes[1] ^ query.bytes[1]] + bytes[2...])
        }
    }

    @Test("what two of three other resolvers find is found, and never what is forged", arguments: cases)
    func found(what: Case) throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            servers.answer = Self.answer
            loop.setNameFiles(
                resolvConf: """
                    nameserver 127.0.0.1
                    nameserver 127.0.0.2
                    search one.example two.example
                    options timeout:1 attempts:1
                    """)
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            let found: Result<[String], any Error>
            let address = try? SocketAddress(host: what.name, port: 0)
            if let address {
                found = loop.outcome(of: resolver.names(of: address, on: loop)).map { $0.map(\.name) }
            } else {
                found = loop.outcome(of: resolver.addresses(of: what.name, on: loop)).map {
                    $0.map(\.address.host)
                }
            }
            let all = Set((try? found.get()) ?? [])
            #expect(all.isSuperset(of: what.agreed), "\(found)")
            #expect(all.isSubset(of: ["192.0.2.1", "2001:db8::1", "nine.example", "ten.example"]))
            if case .failure(let error as ResolutionError) = found {
                #expect(error.name == address?.host ?? what.name)
            }
        }
    }
}
