import UVFutures

/// Code of any isolation gets outcomes from the loop, of values that the loop does not keep, too.
final class Report {
    var lines: [String] = []
}

actor Client {
    private var reports: [Report] = []

    func fetch(from loop: EventLoop) async throws -> Int {
        let report = try await loop.run {
            let report = Report()
            report.lines.append("made on the loop")
            return report
        }
        reports.append(report)
        let sum = try await loop.run { loop.sleep(for: .seconds(1)).map { 40 + 2 } }
        return try await loop.run { sum + 1 }
    }
}

@concurrent func total(of loop: EventLoop) async throws -> Int {
    async let one = loop.run { loop.succeeded(1) }
    async let two = loop.run { 2 }
    let three = loop.makeRemotePromise(of: Int.self)
    Task.detached { three.succeed(3) }
    return try await one + two + loop.run { three.future }
}

nonisolated func inMind(_ future: Future<Int>, of loop: EventLoop) -> Future<Int> {
    Future(on: loop) { try await future.value + 1 }
}
