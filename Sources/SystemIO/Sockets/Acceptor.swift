internal import ByteStreams
internal import Futures

/// The object that accepts the connections of a listening socket, as long as the owner wants connections. It
/// lives until the socket is closed.
///
/// Other connections wait in the system. If the backlog of the socket is full, further peers try again by
/// themselves. If no descriptor is left, the acceptor keeps the socket open, and pauses until one may be free.
final class Acceptor {
    /// The length of a pause for lack of descriptors or memory. The pause ends earlier when a connection of
    /// the owner has been closed.
    static let shortagePause: Duration = .milliseconds(100)

    let socket: any ListenerSocket
    private let limits: SharedLimits
    /// The most connections that the acceptor accepts in one round of the loop, and fewer if the share of a turn is
    /// over before. So a rush of connections does not keep the loop from other work.
    var share = AcceptLimits().perTurn
    /// Called before each connection is accepted. If the closure returns `false`, connections wait in the
    /// system until `resume` is called.
    var isWanted: () -> Bool = { true }
    var onConnection: (SocketConnection) -> Void = { _ in }
    /// Called when there is no descriptor or no memory for a connection. The acceptor tries again later.
    var onShortage: (SystemError) -> Void = { _ in }
    /// Called when the socket no longer listens and has been closed. This is the last call.
    var onFailure: (SystemError) -> Void = { _ in }

    /// The number of connections that the acceptor still accepts before it closes the socket. `nil` before
    /// `finish`.
    private var rest: Int?
    /// The timer that ends the current pause. `nil` if there is no pause.
    private var pause: ScheduledTask<Void>?

    var loop: LoopCore { socket.loop }

    /// Creates an acceptor. The caller has validated `limits`.
    init(_ socket: any ListenerSocket, limits: StreamLimits) {
        self.socket = socket
        self.limits = .of(limits, on: socket.loop)
        socket.onReady = { [self] in takeShare() }
        socket.onEnd = { [self] in
            let error = SystemError(.invalidArgument, "accept", local: socket.localAddress, peer: nil)
            loop.turn { couldNotTake(error) }
        }
    }

    /// Continues to accept, if the owner wants connections and there is no pause.
    func resume() {
        guard pause == nil, !socket.isWatching, isWanted() else { return }
        socket.watch(true)
        if rest != nil { takeLater() }
    }

    /// Accepts the connections that wait now, as far as the owner wants connections, and then closes the
    /// socket.
    func finish() {
        // New connections may come all the time. So the acceptor takes no more than the backlog can hold.
        rest = socket.capacity
        takeLater()
    }

    private func takeLater() { loop.later(on: .nextTurn) { [self] in takeShare() } }

    /// Ends the current pause, if there is one, and tries again. Called when a descriptor may have become
    /// free.
    func retry() {
        guard let pause = pause.take() else { return }
        pause.cancel()
        resume()
    }

    /// Closes the socket. `failure` is the error because of which it is closed, if there is one. The socket
    /// calls its `onClose` when it has been closed.
    func close(_ failure: SystemError? = nil) {
        pause.take()?.cancel()
        socket.closeSocket(failure)
    }

    /// Gives up the socket, which keeps listening, and returns its descriptor. Returns `nil` if the socket is
    /// closed.
    func release() -> CInt? {
        pause.take()?.cancel()
        return socket.release()
    }

    private func takeShare() {
        // Handlers of accepted connections run in between, so the time counts, too.
        let end = loop.endOfShare
        for index in 0..<share where !socket.isClosing {
            guard isWanted() else { return socket.watch(false) }
            if index > 0, loop.clock >= end { break }
            switch socket.accept() {
            case .success(let accepted)?: loop.turn { take(accepted) }
            case .failure(let error)?: return loop.turn { couldNotTake(error) }
            case nil:
                if rest != nil { close() }
                return
            }
        }
        // If no more connections wait, libuv does not call again. So the acceptor has to look itself.
        if rest != nil, !socket.isClosing { takeLater() }
    }

    private func take(_ accepted: any SocketTransport) {
        rest = rest.map { $0 - 1 }
        if rest == 0 { close() }
        onConnection(SocketConnection.made(over: accepted, of: socket, limits: limits))
    }

    private func couldNotTake(_ error: SystemError) {
        // With these errors, the descriptor is not a listening socket any more.
        if [.badDescriptor, .invalidArgument, .notSocket].contains(error.code) {
            close(error)
            return onFailure(error)
        }
        socket.watch(false)
        pause?.cancel()
        pause = loop.schedule(after: Self.shortagePause) { [self] in retry() }
        onShortage(error)
    }
}
