// A Swift library with a C interface (../CHost/echo_library.h), which serves TCP and UDP on the loop of the program that calls
// it, or, where that is none of libuv's, on a loop of its own that the program polls.
import UVFutures

/// What the program holds until it detaches.
final class EchoLibrary {
    let loop: EventLoop
    let server: TCPServer
    let datagrams: UDPSocket

    init(loop: EventLoop) throws {
        self.loop = loop
        server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: server.localAddress.port, on: loop)
        socket.forEachDatagram { bytes, header in socket.send(bytes, to: header.source) }.ignoreFailure()
        datagrams = socket
    }

    static func from(_ pointer: UnsafeMutableRawPointer) -> EchoLibrary {
        Unmanaged.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// An echo server on the loop that `makeLoop` makes; NULL, with the reason in `message`, if that fails.
private func start(
    _ message: UnsafeMutablePointer<CChar>, _ capacity: CInt, _ makeLoop: () throws -> EventLoop
) -> UnsafeMutableRawPointer? {
    do {
        return Unmanaged.passRetained(try EchoLibrary(loop: makeLoop())).toOpaque()
    } catch {
        let text = "\(error)".utf8CString.prefix(Int(capacity) - 1) + [0]
        for (index, character) in text.enumerated() { message[index] = character }
        return nil
    }
}

@c(echo_attach) public func echoAttach(
    _ loop: UnsafeMutableRawPointer, _ hostVersion: @convention(c) () -> UnsafePointer<CChar>?,
    _ message: UnsafeMutablePointer<CChar>, _ capacity: CInt
) -> UnsafeMutableRawPointer? {
    start(message, capacity) { try EventLoop(attachingTo: loop, hostVersion: hostVersion) }
}

@c(echo_start) public func echoStart(_ message: UnsafeMutablePointer<CChar>, _ capacity: CInt)
    -> UnsafeMutableRawPointer?
{
    start(message, capacity) { try EventLoop() }
}

@c(echo_port) public func echoPort(_ library: UnsafeMutableRawPointer) -> CInt {
    CInt(EchoLibrary.from(library).server.localAddress.port)
}

@c(echo_call_later) public func echoCallLater(
    _ library: UnsafeMutableRawPointer, _ milliseconds: CInt,
    _ callback: @escaping @convention(c) (CInt) -> Void
) {
    EchoLibrary.from(library).loop.sleep(for: .milliseconds(milliseconds)).whenSuccess {
        callback(milliseconds)
    }
}

@c(echo_detach) public func echoDetach(
    _ library: UnsafeMutableRawPointer, _ done: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ data: UnsafeMutableRawPointer?
) {
    let library = Unmanaged<EchoLibrary>.fromOpaque(library).takeRetainedValue()
    library.loop.detach().whenSuccess { done(data) }
}

@c(echo_poll_descriptor) public func echoPollDescriptor(_ library: UnsafeMutableRawPointer) -> CInt {
    EchoLibrary.from(library).loop.pollDescriptor
}

@c(echo_poll_timeout) public func echoPollTimeout(_ library: UnsafeMutableRawPointer) -> CInt {
    EchoLibrary.from(library).loop.pollTimeout.map { CInt(clamping: Int($0 / .milliseconds(1))) } ?? -1
}

@c(echo_turn) public func echoTurn(_ library: UnsafeMutableRawPointer) {
    try! EchoLibrary.from(library).loop.turn()
}

@c(echo_stop) public func echoStop(_ library: UnsafeMutableRawPointer) {
    Unmanaged<EchoLibrary>.fromOpaque(library).takeRetainedValue().loop.shutdown()
}
