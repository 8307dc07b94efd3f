public import Futures

extension Error {
    /// Whether the peer has left, as clients do at any time: mostly nothing to report.
    ///
    /// ```swift
    /// server.onConnectionError = { error in
    ///     if !error.isDisconnection { print("a connection failed: \(error)") }
    /// }
    /// ```
    ///
    /// `true` if the peer has reset the connection (`ECONNRESET`, `EPIPE`) or does not answer any more (`ETIMEDOUT`), and
    /// for ``StreamError/unexpectedEnd(received:)``. `false` for a time limit of ``StreamLimits``, with which this side
    /// ends the connection, for a connection that did not come to be, and for all else.
    public var isDisconnection: Bool { (self as? any Disconnecting)?.meansDisconnection ?? false }
}

/// An error that may mean no more than that the peer has left.
package protocol Disconnecting: Error {
    var meansDisconnection: Bool { get }
}

extension CleanUpError: Disconnecting {
    /// What cleans up after a peer that has left fails for the same reason, or since the connection is closed by then.
    package var meansDisconnection: Bool {
        guard error.isDisconnection else { return false }
        return cleanUpError.isDisconnection || cleanUpError as? StreamError == .connectionClosed
    }
}

extension StreamError: Disconnecting {
    package var meansDisconnection: Bool {
        if case .unexpectedEnd = self { true } else { false }
    }
}
