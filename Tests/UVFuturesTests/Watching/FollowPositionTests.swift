import ByteStreams
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct FollowPositionTests {
    /// A position as a program has stored it.
    private func position(
        _ inode: UInt64, _ device: UInt64, _ birth: Int64, _ offset: Int
    ) throws -> FollowStream.Position {
        let text = #"{"device":\#(device),"inode":\#(inode),"birth":\#(birth),"offset":\#(offset)}"#
        return try JSONDecoder().decode(FollowStream.Position.self, from: Data(text.utf8))
    }

    @Test(
        "a position that no stream has had is refused, or lost", arguments: [Int.min, -1, 0, .max - 1, .max])
    func oddPositions(offset: Int) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "one\n")
            let stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            let start = try #require(stream.position)
            let place = try position(start.inode, start.device, start.birth, offset)
            loop.closeAll(stream)
            let follow = File.follow(directory.url("log"), from: .position(place), on: loop)
            guard offset >= 0 else {
                #expect(
                    "\(loop.failure(of: follow)!)"
                        == "following cannot begin at byte \(offset) of inode \(start.inode) on device "
                        + "\(start.device); give a position from FollowStream.position")
                return
            }
            let second = try loop.run(until: follow)
            var losses: [FollowStream.Loss] = []
            second.onLoss { losses.append($0) }
            #expect(try loop.line(of: second) == "one")
            #expect(losses == (offset == 0 ? [] : [.cutOff(after: place)]))
            loop.closeAll(second)
        }
    }

    /// The ways to read lines.
    enum Verb: CaseIterable {
        case readLine, lines, forEachMessage, messages, chunk
    }

    @Test(
        "the place is behind what has been read, and another stream goes on there", arguments: Verb.allCases)
    func places(verb: Verb) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "one\ntwo\nunfinished")
            var stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            let first = stream.position
            #expect(first?.offset == 0)
            directory.rotate()
            directory.write("log", "three\nfour\n", appending: true)
            var (read, offsets): ([String], [Int]) = ([], [])
            var lastPlace = first
            func took(_ text: String) {
                read += text.split(separator: "\n").map(String.init)
                offsets.append(stream.position?.offset ?? -1)
                lastPlace = stream.position
            }
            let target = verb == .chunk ? 2 : 5
            let lines = LineFeedDecoder()
            let end: Future<Void>
            switch verb {
            case .readLine:
                func next() -> Future<Void> {
                    stream.readLine().flatMap {
                        took(String(decoding: $0!, as: UTF8.self))
                        return next()
                    }
                }
                end = next()
            case .lines:
                end = stream.lines().iterate(byActor: false) { took(String(decoding: $0, as: UTF8.self)) }
            case .messages:
                end = stream.messages(decodedBy: lines).iterate(byActor: false) { took($0) }
            case .forEachMessage:
                end = stream.forEachMessage(decodedBy: lines) { range, bytes in
                    took(lines.message(from: range, bytes))
                }.asVoid()
            case .chunk:
                end = stream.forEachChunk { took(String(decoding: $0, as: UTF8.self)) }.asVoid()
            }
            end.ignoreFailure()
            try loop.runUntil { offsets.count == target }
            loop.closeAll(stream)
            #expect(read == ["one", "two", "unfinished", "three", "four"])
            #expect(offsets == (verb == .chunk ? [18, 11] : [4, 8, 0, 6, 11]))
            #expect(first?.inode != lastPlace?.inode)
            let start = try #require(first)
            let place = try position(start.inode, start.device, start.birth, 4)
            stream = try loop.run(until: File.follow(directory.url("log"), from: .position(place), on: loop))
            #expect(stream.position == place)
            #expect(try loop.line(of: stream) == "two")
            loop.closeAll(stream)
            let coded = try JSONEncoder().encode(lastPlace!)
            #expect(try JSONDecoder().decode(FollowStream.Position.self, from: coded) == lastPlace)
        }
    }
}

/// Lines as text, by a decoder of a user.
private struct LineFeedDecoder: StreamDecoder {
    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) -> DecodedFrame<Range<Int>>? {
        for index in 0..<bytes.byteCount
        where unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) == 10 {
            return DecodedFrame(0..<index, byteCount: index + 1)
        }
        return nil
    }

    func message(from frame: Range<Int>, _ bytes: RawSpan) -> String {
        String(
            decoding: frame.map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self
        )
    }
}
