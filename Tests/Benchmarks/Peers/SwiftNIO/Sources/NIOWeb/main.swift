// The same server of HTTP/1.1 on SwiftNIO and its NIOHTTP1, on one thread.
// Usage: NIOWeb [PORT]; 0, the default, picks one.

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The field `Date`, made once a second.
final class Dates {
    private var line = ""
    private var ends = NIODeadline.uptimeNanoseconds(0)
    private let format = DateFormatter()

    init() {
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        format.timeZone = TimeZone(identifier: "GMT")
        format.locale = Locale(identifier: "en_US_POSIX")
    }

    func now() -> String {
        let now = NIODeadline.now()
        if now >= ends {
            let date = Date()
            line = format.string(from: date)
            let left = 1 - date.timeIntervalSince1970.truncatingRemainder(dividingBy: 1)
            ends = now + .nanoseconds(Int64(left * 1e9))
        }
        return line
    }
}

final class WebHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let hello = ByteBuffer(string: "Hello, world!\n")
    private static let missing = ByteBuffer(string: "there is nothing at this path\n")
    private static let filler = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1 << 20)
    private let dates: Dates
    private var head: HTTPRequestHead?

    init(_ dates: Dates) { self.dates = dates }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head = head.take() else { return }
            if head.uri == "/hello" {
                answer(head, .ok, "text/plain", Self.hello, context)
            } else if head.uri.hasPrefix("/bytes/"), let count = Int(head.uri.dropFirst(7)),
                let bytes = Self.filler.getSlice(at: 0, length: count)
            {
                answer(head, .ok, "application/octet-stream", bytes, context)
            } else {
                answer(head, .notFound, "text/plain; charset=utf-8", Self.missing, context)
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    private func answer(
        _ request: HTTPRequestHead, _ status: HTTPResponseStatus, _ type: String, _ body: ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        let fields: HTTPHeaders = [
            "Date": dates.now(), "Content-Type": type, "Content-Length": String(body.readableBytes),
        ]
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let last = context.write(wrapOutboundOut(.end(nil)))
        if !request.isKeepAlive { last.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 0
let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
    .serverChannelOption(.backlog, value: 4096)
    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
            try channel.pipeline.syncOperations.addHandler(WebHandler(Dates()))
        }
    }
    .bind(host: "127.0.0.1", port: port)
    .wait()
print("listening on 127.0.0.1:\(listener.localAddress!.port!)")
fflush(nil)
try listener.closeFuture.wait()
