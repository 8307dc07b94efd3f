/// A listening socket, as the observer of a loop sees it: ``Futures/EventLoop/observe(_:)``.
public struct ListeningSocket: Hashable, Sendable {
    public let address: SocketAddress
}

extension ListeningSocket: CustomStringConvertible {
    /// Like `listener 127.0.0.1:7007`.
    public var description: String { "listener \(address)" }
}
