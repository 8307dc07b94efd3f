import CFuturesSystem
import CLibUV
import Foundation
import Futures
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

/// What is left of a copy that has ended while it had a descriptor of its own.
struct FileCopyEndTests {
    @Test("a copy whose connection ends while a thread sends it writes to nobody else")
    func lateSend() async {
        // In a process of its own, since it holds all threads of the pool.
        await #expect(processExitsWith: .success) {
            try withSource { loop, file, _ in
                let (sender, receiver) = try loop.connectedPair()
                let letGo = try loop.holdPool()
                let before = openDescriptors()
                let copied = file.copy(to: sender)
                try loop.runUntil { loop.statistics.fileOperations == 1 }
                let added = openDescriptors().subtracting(before)
                sender.abort()
                #expect(loop.failure(of: copied) != nil)
                // Others open something, which may get a number that has become free.
                var ends: [CInt] = [0, 0]
                try #require(unsafe pipe(&ends) == 0)
                for number in added where !isOpen(number) { dup2(ends[1], number) }
                letGo()
                try loop.runUntil { loop.statistics.fileOperations == 0 }
                try RemoteContext.files.setLimit(1)
                try loop.run(until: RemoteContext.files.execute(on: loop) {})
                _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
                var byte: UInt8 = 0
                #expect(unsafe read(ends[0], &byte, 1) == -1)
                receiver.abort()
            }
        }
    }

    @Test("a copy that lacks a descriptor fails, and one that waits for its peer keeps none when it ends")
    func scarceDescriptors() async {
        await #expect(processExitsWith: .success) {
            try withSource(size: 20_000_000) { loop, file, bytes in
                let (sender, receiver) = try loop.connectedPair()
                withFreeDescriptors(0) {
                    let error = loop.failure(of: file.copy(to: sender)) as? FileError
                    #expect(error?.code == .tooManyOpenFiles && error?.bytesWritten == 0)
                }
                #expect(try loop.run(until: file.copy(to: sender, count: 5)) == 5)
                #expect(try loop.run(until: receiver.read(exactly: 5)) == bytes.prefix(5))
                let before = openDescriptors()
                let copied = file.copy(to: sender)
                try loop.run(for: .milliseconds(20))
                #expect(!copied.isCompleted)
                sender.abort()
                #expect(loop.failure(of: copied) != nil && loop.outcome(of: sender.closed).isSuccess)
                try loop.runUntil { openDescriptors().isStrictSubset(of: before) }
                receiver.abort()
            }
        }
    }
}
