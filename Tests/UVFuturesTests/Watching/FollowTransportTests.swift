import ByteStreams
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct FollowTransportTests {
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
            #expect(try loop.line(of: stream) == "0")
            var number = 0
            for _ in 0..<8 {
                var text = ""
                for _ in 0..<1000 {
                    number += 1
                    text += "\(number)\n"
                }
                directory.write("log", text, appending: true)
                directory.rotate(keeping: runs ? 1 : 20)
                // Those that are removed, which have another name then, have been opened.
                if runs { try loop.runUntil { directory.isOpen("log.1") } }
            }
            directory.write("log", "end\n", appending: true)
            for expected in 1...number { #expect(try loop.line(of: stream) == "\(expected)") }
            #expect(try loop.line(of: stream) == "end")
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
            #expect(try loop.line(of: stream) == "one")
            // A look that is under way on another thread may still find one or another.
            for number in 2...20 {
                directory.rotate(keeping: 1)
                directory.write("log", "\(number)\n", appending: true)
            }
            var read = [1]
            while read.last != 20 {
                let next = try #require(Int(loop.line(of: stream) ?? ""))
                #expect(next > read.last!)
                read.append(next)
            }
            let missing = 20 - read.count
            try loop.runUntil { !warnings.isEmpty }
            var losses: [FollowStream.Loss] = []
            stream.onLoss { losses.append($0) }
            try loop.runUntil { !losses.isEmpty }
            guard case .files(missing, let after) = try #require(losses.first), losses.count == 1 else {
                Issue.record("\(losses), of \(missing)")
                return
            }
            #expect(
                warnings == [
                    "the file \(directory.url("log")) is followed: at least \(missing) files are lost after \(after)"
                ])
            directory.write("log", "0\n")
            #expect(try loop.line(of: stream) == "0")
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
                #expect(try loop.line(of: stream) == "\(number)")
                if number % 2 == 0 {
                    directory.rename("log", "log.\(number)")
                } else {
                    directory.rotate()
                }
            }
            try loop.run(for: .milliseconds(5))
            loop.closeAll(stream)
        }
    }

    @Test("the first file is not told as lost, though the system tells later that it was made")
    func toldLate() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let (log, other) = (directory.url("log"), directory.url("other"))
            directory.write("log", "one\n")
            let stream = try loop.run(until: File.follow(log, from: .beginning, on: loop))
            stream.onLoss { _ = Issue.record("\($0)") }
            #expect(try loop.line(of: stream) == "one")
            // A link makes a name, and the file stays the same.
            #expect(unsafe link(log, other) == 0 && unlink(log) == 0 && link(other, log) == 0)
            try loop.run(for: .milliseconds(20))
            directory.write("log", "two\n", appending: true)
            #expect(try loop.line(of: stream) == "two")
            directory.rotate()
            directory.write("log", "three\n")
            #expect(try loop.line(of: stream) == "three")
            try loop.run(for: .milliseconds(5))
            loop.closeAll(stream)
        }
    }
}
