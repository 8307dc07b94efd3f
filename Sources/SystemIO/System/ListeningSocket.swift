/// A listening socket, as it appears in the events that the observer of a loop gets. To set an observer, call
/// ``Futures/EventLoop/observe(token:_:)``.
public struct ListeningSocket: Hashable, Sendable {
    public let address: SocketAddress

    package init(address: SocketAddress) { self.address = address }
}

extension ListeningSocket: CustomStringConvertible {
    /// The socket in one line, such as `listener 127.0.0.1:7007`.
    public var description: String { "listener \(address)" }
}
