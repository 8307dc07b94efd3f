import ByteStreams
import Foundation
import FuturesTesting
import Testing

@testable import TLSStreams

struct GreetingDecoderTests {
    /// How many of `bytes` the greeting has; `nil` if more have to come. They come in pieces.
    private func size(of bytes: [UInt8], by piece: Int = .max, isAtEnd: Bool = false) -> Int? {
        var decoder = GreetingDecoder()
        var count = 0
        while count < bytes.count {
            count += min(piece, bytes.count - count)
            let frame = decoder.decode(
                Data(bytes[..<count]).bytes, isAtEnd: isAtEnd && count == bytes.count)
            if let frame { return frame.byteCount }
        }
        return nil
    }

    private func record(_ body: some Collection<UInt8>, type: UInt8 = 22) -> [UInt8] {
        [type, 3, 1, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + Array(body)
    }

    @Test("a greeting ends with its last byte, however it comes", arguments: [1, 2, 7, 100, Int.max])
    func pieces(piece: Int) throws {
        try withLoop { loop in
            let greeting = Array(try greeting(of: try loop.client()))
            #expect(size(of: greeting, by: piece) == greeting.count)
            #expect(size(of: greeting + greeting) == greeting.count)
            #expect(size(of: Array(greeting.dropLast()), by: piece) == nil)
            #expect(size(of: Array(greeting.dropLast()), isAtEnd: true) == greeting.count - 1)
        }
    }

    @Test("a greeting of several records ends with the last of them", arguments: [1, 3, 4, 5, 100])
    func records(size count: Int) throws {
        try withLoop { loop in
            let message = Array(try greeting(of: try loop.client()).dropFirst(5))
            let records = stride(from: 0, to: message.count, by: count).flatMap {
                record(message[$0..<min($0 + count, message.count)]) + record([])
            }
            let whole = records.count - 5
            for piece in [1, 1000, Int.max] {
                #expect(size(of: records, by: piece) == whole)
                #expect(size(of: Array(records[..<(whole - 1)]), by: piece) == nil)
            }
        }
    }

    @Test("alerts that warn are no greeting, and end none: OpenSSL passes over them")
    func warnings() throws {
        try withLoop { loop in
            let warning = record([1, 112], type: 21)
            let greeting = Array(try greeting(of: try loop.client()))
            #expect(size(of: warning + warning) == nil)
            #expect(size(of: warning + greeting, by: 1) == 7 + greeting.count)
        }
    }

    @Test("what is no greeting ends where it can be told what it is")
    func others() {
        #expect(size(of: Array("GET / HTTP/1.1\r\n\r\n".utf8)) == 18)
        #expect(size(of: Array("GET ".utf8)) == nil && size(of: Array("GET /".utf8)) == 5)
        // A fatal alert, the end, another message, a record that is too long, another version.
        #expect(size(of: record([2, 0], type: 21)) == 7 && size(of: record([1, 0], type: 21)) == 7)
        #expect(size(of: [21, 3, 1, 0, 2, 2]) == nil)
        #expect(size(of: record([2, 0, 0, 9])) == 9 && size(of: record([2, 0, 0])) == nil)
        #expect(size(of: [22, 3, 1, 0x48, 0]) == nil && size(of: [22, 3, 1, 0x48, 1]) == 5)
        #expect(size(of: [22, 4, 1, 0, 9]) == 5)
        // The form of SSL 2.
        let old: [UInt8] = [0x80, 9, 1, 3, 3, 0, 0, 0, 0, 0, 0]
        #expect(size(of: old, by: 1) == 11 && size(of: Array(old.dropLast())) == nil)
        #expect(size(of: [0x81, 2, 1, 3, 3] + [UInt8](repeating: 0, count: 300)) == 260)
        // The end is no warning, whatever follows it.
        #expect(size(of: record([1, 0], type: 21) + record([1])) == 7)
    }

    @Test("a greeting may have more than 65,536 bytes")
    func long() {
        let message = [1, 1, 0, 0] + [UInt8](repeating: 0, count: 65_536)
        let records = stride(from: 0, to: message.count, by: 16_384).flatMap {
            record(message[$0..<min($0 + 16_384, message.count)])
        }
        #expect(size(of: records) == records.count && size(of: Array(records.dropLast())) == nil)
    }
}
