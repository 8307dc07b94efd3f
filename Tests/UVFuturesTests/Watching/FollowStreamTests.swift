import ByteStreams
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct FollowStreamTests {
    @Test("what is appended to a file comes, from its end or from its beginning")
    func appended() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("log", "one\n")
            let fromEnd = try loop.run(until: File.follow(directory.url("log"), on: loop))
            let fromBeginning = try loop.run(
                until: File.follow(directory.url("log"), from: .beginning, on: loop))
            #expect(try loop.line(of: fromBeginning) == "one")
            for text in ["two", "three"] {
                directory.write("log", "\(text)\n", appending: true)
                #expect(try loop.line(of: fromEnd) == text)
                #expect(try loop.line(of: fromBeginning) == text)
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
            #expect(try loop.line(of: stream) == "two")
            // As copytruncate: the line that was begun goes on in the emptied file.
            directory.write("log", "thr", appending: true)
            let third = stream.readLine()
            try loop.run(for: .milliseconds(50))
            directory.write("log", "")
            directory.write("log", "ee\nfour\n", appending: true)
            #expect(try loop.run(until: third) == Data("three".utf8))
            #expect(try loop.line(of: stream) == "four")
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
            #expect(try loop.line(of: stream) == "whole")
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
            final class Held {}
            weak var held: Held?
            do {
                let object = Held()
                held = object
                stream.onLoss { _ in withExtendedLifetime(object) {} }
            }
            #expect(held == nil)
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
