// The same echo server on SwiftNIO, on one thread.
// Usage: NIOEcho [PORT]; 0, the default, picks one.

import NIOCore
import NIOPosix

final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else { return }
        // An empty write comes after all others, so what was echoed has left before the close.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 0
let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
    .serverChannelOption(.backlog, value: 4096)
    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    .childChannelOption(.allowRemoteHalfClosure, value: true)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(EchoHandler())
        }
    }
    .bind(host: "127.0.0.1", port: port)
    .wait()
print("listening on 127.0.0.1:\(listener.localAddress!.port!)")
fflush(nil)
try listener.closeFuture.wait()
