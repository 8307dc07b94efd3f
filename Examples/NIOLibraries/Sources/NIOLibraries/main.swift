// Uses libraries of SwiftNIO beside a loop: async-http-client in bodies, and futures of SwiftNIO in both directions. The server
// that they speak with is one of this library, on the loop.
import AsyncHTTPClient
import NIOCore
import NIOPosix
import UVFutures

let loop = EventLoop.main
/// Completes when the client of a request that gets no answer has gone.
let gone = loop.makePromise(of: Void.self)

let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
    for try await line in connection.lines() {
        let words = line.text.split(separator: " ")
        guard words.first == "GET" else { continue }
        if words[1] == "/never" {
            connection.closed.whenComplete { _ in gone.succeed() }
            continue
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(words[1].count)\r\n\r\n"
        try await connection.write(head + words[1]).value
    }
}
let address = "http://127.0.0.1:\(server.localAddress.port)"

func fetch(_ path: String) async throws -> String {
    let request = HTTPClientRequest(url: address + path)
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 20)
    precondition(loop.isCurrent)
    return String(buffer: body)
}

func check(_ what: String, _ isRight: Bool) {
    guard isRight else { fatalError(what) }
    print(what)
}

let tried = Future(on: loop) {
    check("one request", try await fetch("/hello") == "/hello")

    let paths = (0..<100).map { "/\($0)" }
    let all = Future.all(paths.map { path in Future(on: loop) { try await fetch(path) } })
    check("a hundred requests", try await all.value == paths)

    let never = Future(on: loop) { try await fetch("/never") }
    loop.schedule(after: .milliseconds(50)) { never.cancel(.evenIfOthersWaiting) }
    do {
        print(try await never.value)
    } catch {
        check("a cancelled body", error is CancellationError)
    }
    try await gone.future.value
    print("a cancelled request ends its connection")

    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: server.localAddress.port).future(on: loop).value
    check("a future of SwiftNIO", channel.isActive)
    let closed = channel.closeFuture.future(on: loop) { channel.close(promise: nil) }
    check("a cancellation", closed.cancel())
    try await channel.closeFuture.get()
    check("a cancellation reaches SwiftNIO", !channel.isActive)

    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let answer = eventLoop.future(from: loop) { loop.succeeded(42, after: .milliseconds(5)) }
    check("a future for SwiftNIO", try await answer.get() == 42)
}
try loop.run(until: tried)
print(try loop.run(until: server.drain(within: .seconds(5))))
print("SwiftNIO: passed")
