internal import ByteStreams
internal import Futures

/// Takes connections from a socket that listens, as long as its owner wants some. Lives until the socket is closed.
///
/// What it does not take waits in the system, and after the backlog in the peers, which try again by themselves.
/// That is so without descriptors too: then it pauses until one may be free, and never closes the socket.
final class Acceptor {
    /// How long a pause for want of descriptors or memory lasts, unless something is closed here before.
    static let shortagePause: Duration = .milliseconds(100)

    let socket: UVListener
    private let limits: SharedLimits
    /// How many connections it takes in one round of the loop, so that a storm of them starves nobody.
    var share = AcceptLimits().perTurn
    /// Asked before each connection is taken. While it says no, they wait in the system, until `resume`.
    var isWanted: () -> Bool = { true }
    var onConnection: (SocketConnection) -> Void = { _ in }
    /// There is no descriptor or no memory for a connection. It will be tried again.
    var onShortage: (UVError) -> Void = { _ in }
    /// The socket has ceased to listen, and has been closed; nothing follows.
    var onFailure: (UVError) -> Void = { _ in }

    /// How many more it takes before it closes the socket, once it has been told to.
    private var rest: Int?
    /// The end of a pause for want of descriptors.
    private var pause: ScheduledTask<Void>?

    var loop: LoopCore { socket.loop }

    /// `limits` have been validated.
    init(_ socket: UVListener, limits: StreamLimits) {
        self.socket = socket
        self.limits = .of(limits)
        socket.onReady = { [self] in takeShare() }
        socket.onEnd = { [self] in
            let error = UVError(.invalidArgument, "accept", local: socket.localAddress, peer: nil)
            loop.turn { couldNotTake(error) }
        }
    }

    /// Goes on, if connections are wanted.
    func resume() {
        guard pause == nil, !socket.isWatching, isWanted() else { return }
        socket.watch(true)
        if rest != nil { takeLater() }
    }

    /// Takes what waits by now, as far as connections are wanted, and then closes the socket.
    func finish() {
        guard rest == nil else { return }
        // Others may come all the time: not more than can wait.
        rest = socket.capacity
        takeLater()
    }

    private func takeLater() {
        loop.later(on: .nextTurn) { [self] in takeShare() }
    }

    /// A descriptor has become free: tries it again, if it was for want of one that it paused.
    func retry() {
        guard let pause else { return }
        pause.cancel()
        self.pause = nil
        resume()
    }

    /// Closes the socket, because of `failure` if there is one; its `onClose` is called when that is done.
    func close(_ failure: UVError? = nil) {
        pause?.cancel()
        pause = nil
        socket.closeSocket(failure)
    }

    /// Gives the socket up, which listens on, unless it is closed.
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
    /// Whether it says that a descriptor is none of a socket that listens.
    fileprivate var hasCeasedToListen: Bool {
        [.badDescriptor, .invalidArgument, .notSocket].contains(code)
    }
}
