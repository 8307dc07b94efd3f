import Dispatch
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import ByteStreams
@testable import SystemIO
@testable import UVFutures

struct FileCopyTests {
    private static let size = 3_000_000

    @Test("a file flows to a connection between the writes before and after it", arguments: [false, true])
    func order(past: Bool) throws {
        try withSource { loop, file, bytes in
            try withStreams(loop, past) { sender, receiver in
                let count = Self.size - 7
                sender.write("before ")
                let copied = file.copy(to: sender, from: 5, count: count)
                sender.write(" after")
                let second = file.copy(to: sender, from: Self.size - 100)
                sender.shutdownWrite()
                let received = try loop.run(until: receiver.readToEnd())
                #expect(try loop.run(until: copied) == count)
                #expect(try loop.run(until: second) == 100)
                var expected = Data("before ".utf8)
                expected.append(bytes[5..<(5 + count)])
                expected.append(Data(" after".utf8))
                expected.append(bytes.suffix(100))
                #expect(received == expected)
                #expect(sender.bytesSent == received.count)
            }
        }
    }

    @Test("no more is taken from the file than the peer makes room for", arguments: [false, true])
    func backPressure(past: Bool) throws {
        try withSource(size: 20_000_000) { loop, file, bytes in
            try withStreams(loop, past) { sender, receiver in
                let copied = file.copy(to: sender)
                try loop.run(for: .milliseconds(50))
                let before = sender.bytesSent
                try loop.run(for: .milliseconds(50))
                #expect(sender.bytesSent == before && before < 19_000_000)
                #expect(sender.bufferedBytes <= 262_144)
                #expect(!copied.isCompleted)
                sender.shutdownWrite()
                let all = try loop.run(until: receiver.readToEnd(limit: 30_000_000))
                #expect(all == bytes)
                #expect(try loop.run(until: copied) == bytes.count)
            }
        }
    }

    @Test("a file that the disk does not bring stops its copy, and not the loop", arguments: [false, true])
    func coldFile(past: Bool) async {
        // In a process of its own, since it holds all threads of the pool.
        await #expect(processExitsWith: .success) { [past] in
            try withSource { loop, file, bytes in
                try withStreams(loop, past) { (sender, receiver) throws in
                    let letGo = try loop.holdPool()
                    let copied = file.copy(to: sender)
                    sender.shutdownWrite()
                    for _ in 0..<10 { try loop.run(until: loop.sleep(for: .milliseconds(2))) }
                    #expect(sender.bytesSent == 0 && !copied.isCompleted)
                    letGo()
                    #expect(try loop.run(until: receiver.readToEnd()) == bytes)
                    #expect(try loop.run(until: copied) == bytes.count)
                }
            }
        }
    }

    @Test("the end of the file ends a copy, and nothing is copied from behind it", arguments: [false, true])
    func end(past: Bool) throws {
        try withSource { loop, file, bytes in
            try withStreams(loop, past) { (sender, receiver) throws in
                let copies = [
                    file.copy(to: sender, from: Self.size - 1, count: 100),
                    file.copy(to: sender, from: Self.size),
                    file.copy(to: sender, from: 0, count: 0),
                ]
                #expect(try loop.run(until: Future.all(copies)) == [1, 0, 0])
                #expect(try loop.run(until: receiver.read()) == bytes.suffix(1))
                #expect(try loop.run(until: file.copy(to: sender, from: 2, count: 1)) == 1)
                #expect(try loop.run(until: receiver.read()) == bytes[2..<3] && sender.bytesSent == 2)
                #expect(
                    "\(loop.failure(of: file.copy(to: sender, from: -1))!)"
                        == "a position of -1 in a file is negative; give zero or more")
            }
        }
    }

    @Test(
        "a copy that is cancelled ends, before its turn too, and the stream goes on",
        arguments: [false, true])
    func cancelled(past: Bool) throws {
        try withSource(size: 20_000_000) { loop, file, bytes in
            try withStreams(loop, past) { sender, receiver in
                let first = file.copy(to: sender)
                let second = file.copy(to: sender)
                let last = sender.write("last")
                #expect(second.cancel())
                try loop.run(for: .milliseconds(20))
                #expect(first.cancel())
                #expect(loop.outcome(of: first).isCancellation && loop.outcome(of: second).isCancellation)
                sender.shutdownWrite()
                let all = try loop.run(until: receiver.readToEnd(limit: 30_000_000))
                try loop.run(until: last)
                #expect(all.suffix(4).text == "last" && all.dropLast(4) == bytes.prefix(all.count - 4))
                #expect(all.count < bytes.count && sender.bytesSent == all.count)
            }
        }
    }

    @Test("a connection that breaks fails the copy with its error", arguments: [false, true])
    func breaks(past: Bool) throws {
        try withSource(size: 20_000_000) { loop, file, _ in
            try withStreams(loop, past) { sender, receiver in
                let copied = file.copy(to: sender)
                let next = file.copy(to: sender)
                try loop.run(for: .milliseconds(10))
                receiver.abort()
                let error = loop.failure(of: copied)!
                #expect(!(error is FileError))
                #expect("\(loop.failure(of: next)!)" == "\(error)")
                #expect("\(loop.failure(of: sender.closed)!)" == "\(error)")
                #expect(loop.failure(of: file.copy(to: sender)) != nil)
            }
        }
    }

    @Test("this side may close and abort while a file is copied", arguments: [false, true])
    func closes(past: Bool) throws {
        try withSource { loop, file, bytes in
            try withStreams(loop, past) { sender, receiver in
                let copied = file.copy(to: sender)
                let closed = sender.close()
                #expect(try loop.run(until: receiver.readToEnd()) == bytes)
                #expect(try loop.run(until: copied) == bytes.count)
                receiver.close()
                try loop.run(until: closed)
            }
            try withStreams(loop, past) { sender, _ in
                let copied = file.copy(to: sender)
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
                sender.abort()
                #expect(loop.failure(of: copied) as? StreamError == .connectionClosed || copied.isCompleted)
            }
        }
    }

    @Test(
        "a file that the system cannot send is read and written, and a failure of the disk leaves the stream open"
    )
    func odd() throws {
        try withLoop { loop in
            let proc = try loop.run(until: Directory.open("/proc/self", on: loop))
            let file = try loop.run(until: proc.open("limits"))
            let whole = try loop.run(until: file.readAll())
            let (sender, receiver) = try loop.connectedPair()
            #expect(try loop.run(until: file.copy(to: sender)) == whole.count)
            #expect(try loop.run(until: receiver.read(exactly: whole.count)) == whole)
            // It reads an address that is not mapped.
            let memory = try loop.run(until: proc.open("mem"))
            let error = loop.failure(of: memory.copy(to: sender, from: 0)) as? FileError
            #expect(error?.code == .inputOutput && error?.bytesWritten == 0, "\(error!)")
            sender.write("on")
            #expect(try loop.run(until: receiver.read()).text == "on")
            loop.closeAll(sender, receiver)
            for file in [file, memory] { try loop.run(until: file.close()) }
            try loop.run(until: proc.close())
        }
    }

    @Test("a file that is closed while it is copied is closed after that")
    func closesFile() throws {
        try withSource { loop, file, bytes in
            let (sender, receiver) = try loop.connectedPair()
            let copied = file.copy(to: sender)
            let closed = file.close()
            sender.shutdownWrite()
            #expect(try loop.run(until: receiver.readToEnd()) == bytes)
            #expect(try loop.run(until: copied) == bytes.count)
            try loop.run(until: closed)
            #expect(loop.failure(of: file.copy(to: sender)) is FutureError)
            loop.closeAll(sender, receiver)
        }
    }

    @Test("a peer that takes nothing of a file is cut off by the write time limit", arguments: [false, true])
    func timeLimit(past: Bool) throws {
        try withSource(size: 20_000_000) { loop, file, _ in
            var limits = StreamLimits()
            limits.writeTimeout = .milliseconds(100)
            try withStreams(loop, past, limits) { sender, receiver in
                let error = loop.failure(of: file.copy(to: sender)) as? StreamError
                guard case .timedOut(.write, _, _, _) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("the write time limit runs while a copy waits for the peer, and not while it waits for the disk")
    func timeOfDisk() async {
        // In a process of its own, since it holds all threads of the pool.
        await #expect(processExitsWith: .success) {
            try withSource(size: 20_000_000) { loop, file, bytes in
                try withStreams(loop, true) { (sender, receiver) throws in
                    let copied = file.copy(to: sender)
                    sender.shutdownWrite()
                    try loop.runUntil { sender.watch?.place.isTaken == true }
                    let letGo = try loop.holdPool()
                    let received = receiver.readToEnd(limit: 30_000_000)
                    // The peer has made room, and the next portion waits for a thread.
                    try loop.runUntil { loop.statistics.fileOperations == 1 }
                    #expect(sender.watch?.place.isTaken == false)
                    letGo()
                    #expect(try loop.run(until: received) == bytes)
                    #expect(try loop.run(until: copied) == bytes.count)
                }
            }
        }
    }

    @Test("copies leave no descriptor behind")
    func leaks() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            try withSource(size: 20_000_000) { loop, file, _ in
                // The loop has descriptors of its own for connections.
                let first = try loop.connectedPair()
                loop.closeAll(first.0, first.1)
                let before = openDescriptors()
                for way in 0..<40 {
                    let (sender, receiver) = try loop.connectedPair()
                    let copied = file.copy(to: sender)
                    try loop.run(for: .milliseconds(2))
                    switch way % 4 {
                    case 0: receiver.abort()
                    case 1: sender.abort()
                    case 2: copied.cancel()
                    default:
                        sender.shutdownWrite()
                        _ = try loop.run(until: receiver.readToEnd(limit: 30_000_000))
                    }
                    _ = loop.outcome(of: copied)
                    sender.abort()
                    receiver.abort()
                    _ = loop.outcome(of: sender.closed)
                    _ = loop.outcome(of: receiver.closed)
                }
                try loop.run()
                #expect(eventually { openDescriptors().isSubset(of: before) })
                #expect(loop.statistics.handles == 0, "\(loop.dump())")
            }
        }
    }
}

/// Runs `body` with the ends of a connection, over sockets or in memory, and aborts it.
private func withStreams(
    _ loop: EventLoop, _ overSockets: Bool, _ limits: StreamLimits = StreamLimits(),
    _ body: (ByteStream, ByteStream) throws -> Void
) throws {
    let (one, other): (ByteStream, ByteStream)
    if overSockets {
        (one, other) = try loop.connectedPair(limits: limits)
    } else {
        (one, other) = try MemoryStream.pair(on: loop, limits: limits)
    }
    try body(one, other)
    one.abort()
    other.abort()
    _ = loop.outcome(of: one.closed)
    _ = loop.outcome(of: other.closed)
}
