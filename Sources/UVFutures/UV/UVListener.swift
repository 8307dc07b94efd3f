internal import CLibUV

/// A TCP socket that listens. While `onConnection` does not take a connection, libuv leaves the others
/// waiting.
final class UVListener: UVHandle {
    /// How many connections it takes in one round of the loop, so that a storm of them starves nobody.
    private static let share = 64

    private(set) var localAddress: SocketAddress
    /// libuv has a connection that has not been taken.
    private var hasWaiting = false
    private var taken = 0
    private var round: UInt64 = 0

    /// Called when a connection waits to be accepted, or if there was one that could not be taken.
    var onConnection: (UVError?) -> Void = { _ in }
    var onClose: () -> Void = {}

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { unsafe memory(as: uv_tcp_t.self) }

    init(_ driver: UVLoop, _ address: SocketAddress, backlog: CInt) throws(UVError) {
        localAddress = address
        try unsafe super.init(driver, UV_TCP, "listen", initialize: uv_tcp_init)
        var status = unsafe address.withSocketAddress { unsafe uv_tcp_bind(tcp, $0, 0) }
        if status == 0 {
            status = unsafe uv_listen(memory(as: uv_stream_t.self), backlog) { handle, status in
                unsafe UVListener.from(handle!.pointee.data).isConnected(status)
            }
        }
        if status != 0 {
            close()
            throw UVError(status, "listen", local: address, peer: nil)
        }
        localAddress = unsafe SocketAddress { unsafe uv_tcp_getsockname(tcp, $0, $1) } ?? address
    }

    private func isConnected(_ status: CInt) {
        if round != driver.round {
            round = driver.round
            taken = 0
        }
        guard taken < Self.share else { return driver.pausedListeners.append(self) }
        taken += 1
        hasWaiting = status == 0
        loop.turn {
            onConnection(status == 0 ? nil : UVError(status, "accept", local: localAddress, peer: nil))
        }
    }

    /// Goes on with the connection that had to wait for the next round.
    func resume() {
        if !isClosing { isConnected(0) }
    }

    /// The connection that waits, or `nil` if there is none.
    func accept() -> Result<UVTCP, UVError>? {
        guard hasWaiting else { return nil }
        hasWaiting = false
        do throws(UVError) {
            let connection = try UVTCP(driver)
            let status = unsafe uv_accept(
                memory(as: uv_stream_t.self), connection.memory(as: uv_stream_t.self))
            guard status == 0 else {
                connection.close()
                return .failure(UVError(status, "accept", local: localAddress, peer: nil))
            }
            connection.readLocalAddress()
            connection.readPeerAddress()
            return .success(connection)
        } catch {
            return .failure(error)
        }
    }

    override func didClose() {
        let onClose = onClose
        self.onClose = {}
        onConnection = { _ in }
        onClose()
    }
}
