import CFuturesSystem
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct PortionsTests {
    @Test("a consumer that is cancelled loses no entry, and one that breaks off leaves nothing open")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            try withDirectory { loop, directory, path in
                for number in 0..<100 { try put("", "\(path)/\(number)") }
                let before = openDescriptors()
                let body = Future(on: loop) {
                    var count = 0
                    let sequence = directory.entries()
                    let iterator = sequence.makeAsyncIterator()
                    // Cancelled while the first portion is read.
                    let first = iterator.pull()
                    first.cancel()
                    while (try await iterator.pull().value) != nil { count += 1 }
                    for try await _ in directory.entries() { break }
                    for try await _ in directory.walk() { break }
                    return count
                }
                #expect(try loop.run(until: body) == 100)
                try loop.run()
                #expect(eventually { openDescriptors().isSubset(of: before) })
            }
        }
    }
}
