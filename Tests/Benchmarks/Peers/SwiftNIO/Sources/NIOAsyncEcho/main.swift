// The same echo server by NIOAsyncChannel, on one thread of SwiftNIO's and the concurrent executor's threads.
// Usage: NIOAsyncEcho [--lines]

import Foundation
import NIOCore
import NIOPosix

/// Lines with their ends, as the server sends them back.
struct LineDecoder: ByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            return .needMoreData
        }
        let line = buffer.readSlice(length: end - buffer.readerIndex + 1)!
        context.fireChannelRead(wrapInboundOut(line))
        return .continue
    }

    mutating func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState { try decode(context: context, buffer: &buffer) }
}

let isByLines = CommandLine.arguments.contains("--lines")
let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
    .serverChannelOption(.backlog, value: 4096)
    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    .childChannelOption(.allowRemoteHalfClosure, value: true)
    .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture {
            if isByLines {
                try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(LineDecoder()))
            }
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(
                    isOutboundHalfClosureEnabled: true, inboundType: ByteBuffer.self,
                    outboundType: ByteBuffer.self))
        }
    }
print("listening on 127.0.0.1:\(listener.channel.localAddress!.port!)")
fflush(nil)
try await withThrowingDiscardingTaskGroup { group in
    try await listener.executeThenClose { connections in
        for try await connection in connections {
            group.addTask {
                // A connection that breaks ends its own task only.
                try? await connection.executeThenClose { inbound, outbound in
                    for try await chunk in inbound { try await outbound.write(chunk) }
                }
            }
        }
    }
}
