import Foundation
import Synchronization
import TestSupport
import Testing
import UVFutures

/// What other threads have been told.
private final class Reports: Sendable {
    private let all = Mutex<[BlockedLoop]>([])

    var entries: [BlockedLoop] { all.withLock { $0 } }
    func add(_ report: BlockedLoop) { all.withLock { $0.append(report) } }
}

/// How a callback keeps the thread of its loop, until somebody has heard of it.
private enum Block: String, CaseIterable, Codable {
    case body, callback, systemCall, attached

    func begin(on loop: EventLoop, until isOver: @escaping () -> Bool) -> Future<Void> {
        switch self {
        case .body: Future(on: loop) { while !isOver() {} }
        case .callback, .attached: loop.sleep(for: .milliseconds(1)).map { while !isOver() {} }
        case .systemCall:
            loop.succeeded().map {
                var nobody = pollfd(fd: -1, events: 0, revents: 0)
                while !isOver() { _ = unsafe poll(&nobody, 1, 50) }
            }
        }
    }
}

/// The offset in a call such as `libuv.so.1+0x1f00 uv_run`.
private func offset(of call: String) -> Int? {
    let parts = call.split(separator: " ")[0].split(separator: "+0x")
    return parts.count == 2 ? Int(parts[1], radix: 16) : nil
}

struct BlockedLoopTests {
    @Test(
        "a callback that does not end is reported once, on another thread, with the line at which it is",
        arguments: Block.allCases)
    fileprivate func reported(block: Block) throws {
        let reports = Reports()
        func blocked(_ loop: EventLoop) -> Future<Void> {
            loop.onBlockedLoop(longerThan: .milliseconds(20)) { reports.add($0) }
            let limit = Date.now + 600
            // Twice: each callback has a report of its own.
            return block.begin(on: loop) { reports.entries.count >= 1 || Date.now > limit }
                .flatMap { loop.sleep(for: .milliseconds(1)) }
                .flatMap { block.begin(on: loop) { reports.entries.count >= 2 || Date.now > limit } }
                .always { loop.onBlockedLoop(nil) }
        }
        if block == .attached {
            try withHost { host, loop in try host.run(until: blocked(loop)) }
        } else {
            try withLoop { loop in try loop.run(until: blocked(loop)) }
        }
        #expect(reports.entries.count == 2)
        for report in reports.entries {
            #expect(report.duration >= .milliseconds(20) && report.duration < .seconds(600))
            #expect(
                report.description.hasPrefix("a callback keeps the loop from all else for \(report.duration)")
            )
            // The thread sanitizer keeps signals back.
            if isSanitized { continue }
            #expect(report.calls.count > 1)
            // No file of code is as large as an address.
            for call in report.calls { #expect((1..<1 << 32).contains(offset(of: call) ?? 0), "\(call)") }
            #if DEBUG
                #expect(report.place?.hasPrefix("Loop/BlockedLoopTests.swift:") == true)
            #else
                #expect(report.place == nil)
            #endif
        }
    }
}
