// Everything that an asynchronous main may await leaves it on the main thread's loop.
import Dispatch
import UVFutures

struct Failure: Error {}

@MainActor final class Trace {
    var steps: [String] = []
    func step(_ name: String) { steps.append("\(name): \(EventLoop.main.isCurrent)") }
}

@concurrent func elsewhere(_ number: Int) async -> Int { number }

@main struct Program {
    static func main() async throws {
        let loop = EventLoop.main
        let trace = Trace()
        try await loop.sleep(for: .milliseconds(1)).value
        trace.step("a timer")
        print(try await loop.submit { 42 }.value)
        trace.step("a callback")
        await Task.yield()
        trace.step("a yield")
        try await Task.sleep(for: .milliseconds(1))
        trace.step("the runtime's sleep")
        async let one = elsewhere(1)
        async let two = elsewhere(2)
        print(await one + two)
        trace.step("async let")
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<10 { group.addTask { await elsewhere(number) } }
            var sum = 0
            for await number in group { sum += number }
            return sum
        }
        print(sum)
        trace.step("a task group")
        await Task { trace.step("within a task") }.value
        trace.step("a task")
        await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() }
        }
        trace.step("a continuation")
        do { try await loop.failed(Failure(), of: Void.self).value } catch { print(error) }
        print(
            try await Future(on: loop) { [trace] in
                trace.step("within a body")
                return try await loop.sleep(for: .milliseconds(1)).map { 7 }.value
            }.value)
        trace.step("a body")
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { connection.write($0) }
        }
        let connection = try await TCPConnection.connect(
            host: "127.0.0.1", port: server.localAddress.port, on: loop
        ).value
        try await connection.write("hello\n").value
        print(try await connection.readLine().value.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")
        trace.step("a connection")
        try await connection.close().value
        try await server.close().value
        print(trace.steps.filter { !$0.hasSuffix(": true") }, trace.steps.count)
    }
}
