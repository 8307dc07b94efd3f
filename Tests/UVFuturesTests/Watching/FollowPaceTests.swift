import ByteStreams
import Futures
import FuturesTesting
import Testing
import UVFutures

/// When a followed file is read and its name is looked for, in virtual time.
struct FollowPaceTests {
    private let loop = EventLoop.virtual()
    private var disk: SimulatedDisk { loop.simulatedDisk }

    private func follow(_ limits: StreamLimits = .following) throws -> FollowStream {
        try loop.run(until: File.follow("/log/app", from: .beginning, limits: limits, on: loop))
    }

    private func end(_ stream: FollowStream) {
        loop.closeAll(stream)
        #expect(loop.statistics.timers == 0)
        loop.shutdown()
    }

    @Test("a file that has lost its name is looked at ten times a second, for a minute after its last bytes")
    func lateBytes() throws {
        disk.write("/log/app", "")
        let stream = try follow()
        var seen: [String] = []
        stream.forEachChunk { seen.append($0.text) }.ignoreFailure()
        loop.advance(by: .seconds(1))
        #expect(loop.statistics.timers == 0)
        disk.rename("/log/app", to: "/log/app.1")
        loop.advance(by: .milliseconds(59_950))
        disk.write("/log/app.1", "one\n")
        loop.advance(by: .milliseconds(49))
        #expect(seen == [])
        loop.advance(by: .milliseconds(1))
        #expect(seen == ["one\n"])
        loop.advance(by: .milliseconds(60_050))
        disk.write("/log/app.1", "one\ntwo\n")
        loop.advance(by: .seconds(100))
        #expect(seen == ["one\n"] && loop.statistics.timers == 0)
        // When the new file has contents, the old one is looked at again.
        disk.write("/log/app", "three\n")
        loop.advance(by: .milliseconds(1))
        #expect(seen == ["one\n", "two\n", "three\n"])
        end(stream)
    }

    /// Limits with which a stream reads no more while some bytes have not been taken.
    private var tight: StreamLimits {
        var limits = StreamLimits.following
        (limits.readHighWaterMark, limits.readLowWaterMark) = (8, 1)
        return limits
    }

    @Test("a file that has lost its name while nobody read is looked at, too, when somebody reads again")
    func lateBytesOfPaused() throws {
        disk.write("/log/app", "one\ntwo\nthree\n")
        let stream = try follow(tight)
        #expect(try loop.line(of: stream) == "one")
        disk.rename("/log/app", to: "/log/app.1")
        loop.advance(by: .seconds(1))
        #expect(loop.statistics.timers == 0)
        #expect(try [loop.line(of: stream), loop.line(of: stream)] == ["two", "three"])
        let next = stream.readLine()
        loop.advance(by: .seconds(1))
        disk.write("/log/app.1", "one\ntwo\nthree\nfour\n")
        loop.advance(by: .milliseconds(100))
        #expect(try next.result?.get()?.text == "four")
        end(stream)
    }

    @Test("what was appended while nobody read comes, also if somebody reads before the look for it is over")
    func readAgainDuringLook() throws {
        disk.write("/log/app", "one\ntwo\nthree\n")
        let stream = try follow(tight)
        #expect(try loop.line(of: stream) == "one")
        disk.latency = .constant(.milliseconds(10))
        disk.write("/log/app", "one\ntwo\nthree\nfour\n")
        loop.advance(by: .milliseconds(5))
        for text in ["two", "three", "four"] { #expect(try loop.line(of: stream) == text) }
        end(stream)
    }

    @Test("files that have the name while nobody reads are opened, and read though they are removed")
    func removedWhilePaused() throws {
        disk.write("/log/app", "one\ntwo\nthree\n")
        let stream = try follow(tight)
        stream.onLoss { _ = Issue.record("\($0)") }
        #expect(try loop.line(of: stream) == "one")
        for text in ["four", "five", "six"] {
            disk.remove("/log/app")
            disk.write("/log/app", "\(text)\n")
            loop.advance(by: .seconds(1))
        }
        for text in ["two", "three", "four", "five", "six"] { #expect(try loop.line(of: stream) == text) }
        end(stream)
    }

    @Test("a stream that began without a file has a place in the first one")
    func firstFile() throws {
        disk.makeDirectory("/log")
        let stream = try follow()
        #expect(stream.position == nil)
        let line = stream.readLine()
        disk.write("/log/app", "one\ntwo\n")
        #expect(try loop.run(until: line)?.text == "one")
        #expect(stream.position?.offset == 4)
        end(stream)
    }

    @Test("an end of line that is inserted is no byte of the file")
    func insertedEnd() throws {
        disk.write("/log/app", "one")
        let stream = try follow()
        var seen: [String] = []
        stream.forEachChunk { [unowned stream] in
            seen.append("\($0.text) \(stream.position?.offset ?? -1)")
        }.ignoreFailure()
        loop.advance(by: .seconds(1))
        disk.rename("/log/app", to: "/log/app.1")
        disk.write("/log/app", "")
        loop.advance(by: .seconds(1))
        disk.rename("/log/app.1", to: "/log/app.2")
        disk.rename("/log/app", to: "/log/app.1")
        disk.write("/log/app", "two\n")
        loop.advance(by: .seconds(1))
        #expect(seen == ["one 3", "\n 3", "two\n 4"])
        end(stream)
    }

    @Test("a file that came while the stream began is none that was lost later")
    func cameAtTheBeginning() throws {
        disk.makeDirectory("/log")
        disk.latency = .constant(.milliseconds(10))
        let following = File.follow("/log/app", from: .beginning, on: loop)
        loop.advance(by: .milliseconds(15))
        disk.write("/log/app", "one\n")
        let stream = try loop.run(until: following)
        stream.onLoss { _ = Issue.record("\($0)") }
        disk.rename("/log/app", to: "/log/app.1")
        disk.write("/log/app", "two\n")
        for text in ["one", "two"] { #expect(try loop.line(of: stream) == text) }
        loop.advance(by: .seconds(1))
        end(stream)
    }

    @Test("files that came and went at once are counted each time, and told with the place before them")
    func losses() throws {
        disk.write("/log/app", "")
        let stream = try follow()
        var losses: [FollowStream.Loss] = []
        stream.onLoss { losses.append($0) }
        var expected: [FollowStream.Loss] = []
        for count in [1, 1, 3, 0, 2] {
            let place = try #require(stream.position)
            if count > 0 { expected.append(.files(atLeast: count, after: place)) }
            for number in 0...count {
                disk.remove("/log/app")
                disk.write("/log/app", "\(number)\n")
            }
            #expect(try loop.line(of: stream) == "\(count)")
            loop.advance(by: .seconds(1))
            #expect(losses == expected)
        }
        end(stream)
    }

    @Test("the last hundred losses wait for a closure")
    func untoldLosses() throws {
        disk.write("/log/app", "long\n")
        let stream = try follow()
        stream.forEachChunk { _ in }.ignoreFailure()
        loop.advance(by: .seconds(1))
        for number in 0..<101 {
            disk.write("/log/app", number % 2 == 0 ? "\n" : "")
            loop.advance(by: .seconds(1))
            disk.write("/log/app", "long\n")
            loop.advance(by: .seconds(1))
        }
        var offsets: [Int] = []
        stream.onLoss { if case .cutOff(let place) = $0 { offsets.append(place.offset) } }
        loop.advance(by: .seconds(1))
        #expect(offsets.count == 100)
        end(stream)
    }
}
