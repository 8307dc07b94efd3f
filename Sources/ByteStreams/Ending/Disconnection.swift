public import Futures

extension Error {
    /// Whether the peer has left, as clients do at any time. Mostly there is nothing to report.
    ///
    /// ```swift
    /// server.onConnectionError = { error in
    ///     if !error.isDisconnection { print("a connection failed: \(error)") }
    /// }
    /// ```
    ///
    /// `true` if the peer has reset the connection (`ECONNRESET`, `EPIPE`) or does not answer any more (`ETIMEDOUT`),
    /// and for ``StreamError/unexpectedEnd(received:)``. `false` for everything else: for example for a time limit of
    /// ``StreamLimits``, where this side ends the connection, and for a connection that was never made.
    public var isDisconnection: Bool { (self as? any Disconnecting)?.meansDisconnection ?? false }
}

/// An error that may mean no more than that the peer has left.
package protocol Disconnecting: Error {
    var meansDisconnection: Bool { get }
}

extension CleanUpError: Disconnecting {
    /// Whether the clean-up failed because the peer has left: for the same reason, or since the connection is closed
    /// by then.
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
