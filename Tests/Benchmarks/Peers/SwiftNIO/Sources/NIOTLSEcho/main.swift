// The same encrypted echo server on SwiftNIO SSL, on one thread, and a plain one beside it.
// Usage: NIOTLSEcho CERTIFICATE KEY

import NIOCore
import NIOPosix
import NIOSSL

final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

let files = CommandLine.arguments.dropFirst()
guard files.count == 2 else { fatalError("usage: NIOTLSEcho CERTIFICATE KEY") }
var configuration = TLSConfiguration.makeServerConfiguration(
    certificateChain: try NIOSSLCertificate.fromPEMFile(files[1]).map { .certificate($0) },
    privateKey: .privateKey(try NIOSSLPrivateKey(file: files[2], format: .pem)))
configuration.minimumTLSVersion = .tlsv12
let encryption = try NIOSSLContext(configuration: configuration)
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

func listen(_ encryption: NIOSSLContext?, _ what: String) throws -> any Channel {
    let listener = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 4096)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let encryption { try pipeline.addHandler(NIOSSLServerHandler(context: encryption)) }
                try pipeline.addHandler(EchoHandler())
            }
        }
        .bind(host: "127.0.0.1", port: 0)
        .wait()
    print("\(what) on 127.0.0.1:\(listener.localAddress!.port!)")
    fflush(nil)
    return listener
}

_ = try listen(nil, "plain")
try listen(encryption, "listening").closeFuture.wait()
