internal import ByteStreams
internal import Futures

/// Accepts connections from a listening socket as long as its owner wants some. Lives until the socket is closed.
///
/// Connections that it does not accept wait in the system, and beyond the backlog in the peers, which try again by
/// themselves. Without descriptors it pauses until one may be free. It never closes the socket for that.
final class Acceptor {
    /// The length of a pause for lack of descriptors or memory, unless something is closed here before.
    static let shortagePause: Duration = .milliseconds(100)

    let socket: UVListener
    private let limits: SharedLimits
    /// The number of connections it accepts in one round of the loop, so that a storm of them starves nothing else.
    var share = AcceptLimits().perTurn
    /// Called before each connection is accepted. While it returns `false`, they wait in the system, until `resume`.
    var isWanted: () -> Bool = { true }
    var onConnection: (SocketConnection) -> Void = { _ in }
    /// Called when there is no descriptor or no memory for a connection. The acceptor tries again later.
    var onShortage: (UVError) -> Void = { _ in }
    /// Called when the socket no longer listens and has been closed; nothing follows.
    var onFailure: (UVError) -> Void = { _ in }

    /// The number of connections it still accepts before it closes the socket, after `finish`.
    private var rest: Int?
    /// The end of a pause for want of descriptors.
    private var pause: ScheduledTask<Void>?

    var loop: LoopCore { socket.loop }

    /// Creates an acceptor; the caller has validated `limits`.
    init(_ socket: UVListener, limits: StreamLimits) {
        self.socket = socket
        self.limits = .of(limits)
        socket.onReady = { [self] in takeShare() }
        socket.onEnd = { [self] in
            let error = UVError(.invalidArgument, "accept", local: socket.localAddress, peer: nil)
            loop.turn { couldNotTake(error) }
        }
    }

    /// Continues to accept, if connections are wanted.
    func resume() {
        guard pause == nil, !socket.isWatching, isWanted() else { return }
        socket.watch(true)
        if rest != nil { takeLater() }
    }

    /// Accepts what waits now, as far as connections are wanted, and then closes the socket.
    func finish() {
        guard rest == nil else { return }
        // Others may come all the time: not more than can wait.
        rest = socket.capacity
        takeLater()
    }

    private func takeLater() {
        loop.later(on: .nextTurn) { [self] in takeShare() }
    }

    /// Tries again when a descriptor has become free, if it paused for lack of one.
    func retry() {
        guard let pause else { return }
        pause.cancel()
        self.pause = nil
        resume()
    }

    /// Closes the socket, because of `failure` if there is one. Calls its `onClose` when that is done.
    func close(_ failure: UVError? = nil) {
        pause?.cancel()
        pause = nil
        socket.closeSocket(failure)
    }

    /// Gives up the socket, which keeps listening, unless it is closed.
    func release() -> CInt? {
        pause?.cancel()
        pause = nil
        return socket.release()
    }

    private func takeShare() {
        for _ in 0..<share where !socket.isClosing {
            guard isWanted() else { return socket.watch(false) }
            switch socket.accept() {
            case .success(let accepted)?: loop.turn { take(accepted) }
            case .failure(let error)?: return loop.turn { couldNotTake(error) }
            case nil:
                if rest != nil { close() }
                return
            }
        }
        // Nothing is ready to be told of when that was all.
        if rest != nil, !socket.isClosing { takeLater() }
    }

    private func take(_ accepted: AcceptedSocket) {
        rest = rest.map { $0 - 1 }
        if rest == 0 { close() }
        do throws(UVError) {
            onConnection(try accepted.connection(loop.uv, limits: limits))
        } catch {
            couldNotTake(error)
        }
    }

    private func couldNotTake(_ error: UVError) {
        if error.hasCeasedToListen {
            close(error)
            onFailure(error)
            return
        }
        socket.watch(false)
        pause?.cancel()
        let pause = loop.schedule(after: Self.shortagePause) { [self] in retry() }
        pause.future.ignoreFailure()
        self.pause = pause
        onShortage(error)
    }
}

extension UVError {
    /// Whether the error says that a descriptor is not a listening socket.
    fileprivate var hasCeasedToListen: Bool {
        [.badDescriptor, .invalidArgument, .notSocket].contains(code)
    }
}
