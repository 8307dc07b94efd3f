import Dispatch
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// A trap of a build for debugging names the line that it is about.
struct TrapPlaceTests {
    /// Of each way to come there one: in each process the place takes its time to be found.
    enum Mistake: String, CaseIterable, Codable {
        case wrongThread, wrongThreadInTask, nestedRun, attached, noLoop, waitOnLoop, mainElsewhere
        case extensionOfUser, body, bytesOfStream, foreignFlatMap

        /// What is about a callback's result is about the call that it was given in.
        var words: String {
            self == .foreignFlatMap ? "In a callback made" : "Called"
        }
    }

    @Test(
        "a trap names the file and the line of the call, in a debug build",
        .disabled(if: isSanitized, "Symbols take ten times as long, and nothing is found."),
        arguments: Mistake.allCases)
    func place(of mistake: Mistake) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [mistake] in
            unsafe setenv("SWIFT_BACKTRACE", "enable=yes", 1)
            try make(mistake)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = printed.split(separator: "\n")
        let place = lines.first { $0.hasPrefix("here: ") }?.dropFirst(6) ?? "nowhere"
        #if DEBUG
            #expect(printed.contains(" (\(mistake.words) at \(place).)\n"), "\(printed)")
        #else
            #expect(printed.contains("Fatal error: ") && !printed.contains(" at \(place)"), "\(printed)")
        #endif
    }

    @Test("a trap of a program that wants no backtraces takes no time to find its place")
    func unwanted() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1)
            _ = Future<Int>.all([])
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("call it from a loop's callback.\n"), "\(printed)")
    }
}

/// Prints the place that a trap, or the report of a failure, has to name: the next line.
func sayNextLine(_ path: String = #filePath, _ line: Int = #line) {
    let file = path.split(separator: "/").suffix(2).joined(separator: "/")
    StandardError.print("here: \(file):\(line + 1)")
}

extension Future where Value == Int {
    fileprivate func doubled() -> Future {
        sayNextLine()
        return map { $0 * 2 }
    }
}

private func make(_ mistake: TrapPlaceTests.Mistake) throws {
    let loop = EventLoop.virtual()
    let promise = loop.makePromise(of: Int.self)
    nonisolated(unsafe) let future = promise.future
    let foreign = EventLoop.virtual().makePromise(of: Int.self).future
    switch mistake {
    case .wrongThread:
        try onThread {
            sayNextLine()
            unsafe future.whenSuccess { _ in }
        }
    case .wrongThreadInTask:
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await Task.yield()
            sayNextLine()
            unsafe future.whenSuccess { _ in }
            done.signal()
        }
        done.wait()
    case .nestedRun:
        _ = try loop.run(
            until: loop.submit {
                sayNextLine()
                try loop.run()
            })
    case .attached:
        try withHost { _, loop in
            sayNextLine()
            loop.stop()
        }
    case .noLoop:
        sayNextLine()
        _ = Future<Int>.all([])
    case .waitOnLoop:
        _ = try loop.run(
            until: loop.submit {
                sayNextLine()
                _ = try loop.wait { loop.succeeded(1) }
            })
    case .mainElsewhere:
        try onThread {
            sayNextLine()
            _ = EventLoop.main
        }
    case .extensionOfUser:
        try onThread { _ = unsafe future.doubled() }
    case .body:
        _ = try loop.run(
            until: Future(on: loop) {
                try await loop.sleep(for: .seconds(1)).value
                sayNextLine()
                _ = FutureLatch(count: -1, on: loop)
            })
    case .bytesOfStream:
        let loop = try EventLoop()
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { _ in
                sayNextLine()
                _ = FutureLatch(count: -1, on: loop)
            }
        }
        let client = TCPConnection.connect(
            host: "127.0.0.1", port: server.localAddress.port, on: loop)
        client.whenSuccess { $0.write("x").ignoreFailure() }
        try loop.run()
    case .foreignFlatMap:
        sayNextLine()
        _ = try loop.run(until: loop.submit {}.flatMap { foreign })
    }
    withExtendedLifetime(promise) {}
}
