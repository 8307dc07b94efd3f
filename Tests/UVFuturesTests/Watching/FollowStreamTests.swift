import ByteStreams
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct FollowStreamTests {
    private func line(_ stream: FollowStream, _ loop: EventLoop) throws -> String? {
        try loop.run(until: stream.readLine().timeout(after: .seconds(10))).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("what is appended to a file comes, from its end or from its beginning")
    func appended() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "one\n")
            let fromEnd = try loop.run(until: File.follow(directory.url("log"), on: loop))
            let fromBeginning = try loop.run(
                until: File.follow(directory.url("log"), from: .beginning, on: loop))
            #expect(try line(fromBeginning, loop) == "one")
            for text in ["two", "three"] {
                directory.write("log", "\(text)\n", appending: true)
                #expect(try line(fromEnd, loop) == text)
                #expect(try line(fromBeginning, loop) == text)
            }
            loop.closeAll(fromEnd, fromBeginning)
        }
    }

    @Test("a file that is not there yet is waited for, and one that is emptied begins again")
    func absentAndEmptied() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let stream = try loop.run(until: File.follow(directory.url("log"), on: loop))
            let first = stream.readLine()
            directory.write("log", "one\ntwo\n")
            #expect(try loop.run(until: first) == Data("one".utf8))
            #expect(try line(stream, loop) == "two")
            // As copytruncate: the line that was begun goes on in the emptied file.
            directory.write("log", "thr", appending: true)
            let third = stream.readLine()
            try loop.run(for: .milliseconds(50))
            directory.write("log", "")
            directory.write("log", "ee\nfour\n", appending: true)
            #expect(try loop.run(until: third) == Data("three".utf8))
            #expect(try line(stream, loop) == "four")
            loop.closeAll(stream)
        }
    }

    @Test("a rotation at any byte of a line loses no line", arguments: [false, true])
    func rotation(isLinked: Bool) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let text = Array("a line of text\n".utf8)
            let other = TemporaryDirectory()
            if isLinked { directory.link("log", to: other.url("log")) }
            let place = isLinked ? other : directory
            place.write("log", "")
            let stream = try loop.run(until: File.follow(directory.url("log"), on: loop))
            var descriptor = unsafe open(place.url("log"), O_WRONLY | O_APPEND)
            var lines: [String] = []
            let end = stream.lines().iterate(byActor: false) {
                lines.append(String(decoding: $0, as: UTF8.self))
            }
            end.ignoreFailure()
            var written = 0
            func put(_ bytes: some Sequence<UInt8>) {
                let bytes = Array(bytes)
                #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
            }
            for index in 0...text.count {
                for waits in [false, true] {
                    put(text.prefix(index))
                    if waits { try loop.run(for: .milliseconds(2)) }
                    place.rename("log", "log.\(written)")
                    if waits { try loop.run(for: .milliseconds(2)) }
                    place.write("log", "")
                    if waits { try loop.run(for: .milliseconds(2)) }
                    // The writer has the old file open until it hears of the rotation.
                    put(text.dropFirst(index))
                    close(descriptor)
                    descriptor = unsafe open(place.url("log"), O_WRONLY | O_APPEND)
                    written += 1
                    put("number \(written)\n".utf8)
                    try loop.runUntil { lines.last == "number \(written)" }
                }
            }
            close(descriptor)
            let expected = (1...written).flatMap { ["a line of text", "number \($0)"] }
            #expect(lines == expected)
            loop.closeAll(stream)
            #expect(loop.outcome(of: end).isCancellation || end.isCompleted)
        }
    }

    @Test("a line that the old file does not end is one by itself")
    func unfinished() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "half")
            let stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            let first = stream.readLine()
            try loop.run(for: .milliseconds(20))
            directory.write("new", "whole\n")
            directory.rename("new", "log")
            #expect(try loop.run(until: first) == Data("half".utf8))
            #expect(try line(stream, loop) == "whole")
            loop.closeAll(stream)
        }
    }

    @Test("what cannot be followed is an error, at the beginning and later")
    func errors() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("logs")
            #expect(
                "\(loop.failure(of: File.follow(directory.url("logs"), on: loop))!)"
                    == "follow \(directory.url("logs")) below the root: openat2 EISDIR: illegal operation on a directory"
            )
            #expect(
                loop.failure(of: File.follow(directory.url("no/log"), on: loop)) as? FileWatchError
                    == .removed(path: directory.url("no")))
            var limits = StreamLimits()
            limits.writeCap = -1
            #expect(loop.failure(of: File.follow("/tmp/x", limits: limits, on: loop)) is FutureError)
            let stream = try loop.run(until: File.follow(directory.url("logs/log"), on: loop))
            let line = stream.readLine()
            directory.remove("logs")
            #expect(loop.failure(of: line) as? FileWatchError == .removed(path: directory.url("logs")))
            _ = loop.outcome(of: stream.close())
        }
    }

    @Test("a stream that nobody reads does not keep the loop running, and one that is closed leaves nothing")
    func life() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log")
            let stream = try loop.run(until: File.follow(directory.url("log"), on: loop))
            try loop.run()
            let line = stream.readLine()
            try loop.run(for: .milliseconds(20))
            #expect(loop.dump().contains("watch of files"))
            #expect(loop.statistics.timers == 0)
            loop.closeAll(stream)
            #expect(line.isCompleted)
            try loop.run()
            #expect(!loop.dump().contains("watch of files"))
        }
    }

    @Test("a log is followed on a simulated disk, across rotations and faults")
    func simulated() throws {
        let world = World(seed: 5)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/var/log/app", "one\n")
        let stream = try world.run(until: File.follow("/var/log/app", from: .beginning, on: host.loop))
        #expect(try world.run(until: stream.readLine()) == Data("one".utf8))
        let second = stream.readLine()
        host.disk.rename("/var/log/app", to: "/var/log/app.1")
        host.disk.write("/var/log/app", "two\n")
        #expect(try world.run(until: second) == Data("two".utf8))
        host.disk.failsReads = true
        let third = stream.readLine()
        host.disk.write("/var/log/app", "two\nthree\n")
        #expect(throws: (any Error).self) { try world.run(until: third) }
    }

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
                        == "a follow was to begin at byte \(offset) of inode \(start.inode) on device \(start.device); give "
                        + "a position that a stream has had")
                return
            }
            let second = try loop.run(until: follow)
            var losses: [FollowStream.Loss] = []
            second.onLoss { losses.append($0) }
            #expect(try line(second, loop) == "one")
            #expect(losses == (offset == 0 ? [] : [.cutOff(after: place)]))
            loop.closeAll(second)
        }
    }

    /// Rotates as `logrotate` does, with a new file each time, and keeps `count` former ones.
    private func rotate(_ directory: TemporaryDirectory, keeping count: Int = 20) {
        for number in (0..<count).reversed() {
            let old = number == 0 ? "log" : "log.\(number)"
            if unsafe access(directory.url(old), F_OK) == 0 { directory.rename(old, "log.\(number + 1)") }
        }
        directory.write("log", "")
    }

    @Test(
        "rotations while nobody reads lose no line, whether the loop runs meanwhile or not",
        arguments: [false, true])
    func heldBack(runs: Bool) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "")
            let stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            stream.onLoss { _ = Issue.record("\($0)") }
            directory.write("log", "0\n", appending: true)
            #expect(try line(stream, loop) == "0")
            var number = 0
            for round in 0..<8 {
                var text = ""
                for _ in 0..<1000 {
                    number += 1
                    text += "\(number)\n"
                }
                directory.write("log", text, appending: true)
                // Those that are removed have been opened.
                rotate(directory, keeping: runs ? 1 : 20)
                if runs { try loop.run(for: .milliseconds(round == 0 ? 100 : 20)) }
            }
            directory.write("log", "end\n", appending: true)
            for expected in 1...number { #expect(try line(stream, loop) == "\(expected)") }
            #expect(try line(stream, loop) == "end")
            loop.closeAll(stream)
        }
    }

    @Test("files that came and went while the loop stood still are counted, and told with their place")
    func lost() throws {
        try withLoop { loop in
            var warnings: [String] = []
            loop.observe { if case .warning(let text) = $0 { warnings.append(text) } }
            let directory = TemporaryDirectory()
            directory.write("log", "one\n")
            let stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            #expect(try line(stream, loop) == "one")
            let place = try #require(stream.position)
            var losses: [FollowStream.Loss] = []
            for number in 2...5 {
                rotate(directory, keeping: 1)
                directory.write("log", "number \(number)\n", appending: true)
            }
            #expect(try line(stream, loop) == "number 4")
            #expect(try line(stream, loop) == "number 5")
            try loop.runUntil { !warnings.isEmpty }
            stream.onLoss { losses.append($0) }
            try loop.runUntil { !losses.isEmpty }
            #expect(losses == [.files(atLeast: 2, after: place)])
            #expect(
                warnings == [
                    "the file \(directory.url("log")) is followed, and at least 2 files are lost after \(place)"
                ])
            directory.write("log", "6\n")
            #expect(try line(stream, loop) == "6")
            if case .cutOff = losses.last {} else { Issue.record("\(losses)") }
            loop.closeAll(stream)
        }
    }

    @Test("files that came, and were found, are not told as lost", arguments: 0..<20)
    func notLost(_: Int) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let stream = try loop.run(until: File.follow(directory.url("log"), from: .beginning, on: loop))
            stream.onLoss { _ = Issue.record("\($0)") }
            for number in 0..<20 {
                directory.write("log", "\(number)\n")
                #expect(try line(stream, loop) == "\(number)")
                if number % 2 == 0 {
                    directory.rename("log", "log.\(number)")
                } else {
                    rotate(directory)
                }
            }
            try loop.run(for: .milliseconds(5))
            loop.closeAll(stream)
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
            rotate(directory)
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
            #expect(try line(stream, loop) == "two")
            loop.closeAll(stream)
            let coded = try JSONEncoder().encode(lastPlace!)
            #expect(try JSONDecoder().decode(FollowStream.Position.self, from: coded) == lastPlace)
        }
    }

    @Test("a line over the limit is cut or skipped, and counted", arguments: [LongLines.cut, .skip])
    func longLines(_ way: LongLines) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let long = String(repeating: "x", count: 1_000_000)
            directory.write("log", "one\n\(long)\ntwo\n")
            var limits = StreamLimits.following
            limits.longLines = way
            let stream = try loop.run(
                until: File.follow(directory.url("log"), from: .beginning, limits: limits, on: loop))
            var lines: [String] = []
            for _ in 0..<(way == .cut ? 3 : 2) {
                lines.append(
                    String(decoding: try loop.run(until: stream.readLine(limit: 10))!, as: UTF8.self))
            }
            #expect(lines == (way == .cut ? ["one", "xxxxxxxxxx", "two"] : ["one", "two"]))
            #expect(stream.longLineCount == 1 && stream.position?.offset == 1_000_009)
            loop.closeAll(stream)
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
