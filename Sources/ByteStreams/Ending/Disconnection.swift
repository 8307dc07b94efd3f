public import Futures

extension Error {
    /// Whether this error means only that the peer has disconnected. Clients may disconnect at any time, so there
    /// is usually no need to report such an error.
    ///
    /// ```swift
    /// server.onConnectionError = { error in
    ///     if !error.isDisconnection { print("a connection failed: \(error)") }
    /// }
    /// ```
    ///
    /// The value is `true` if the peer has reset the connection (`ECONNRESET`, `EPIPE`) or no longer answers
    /// (`ETIMEDOUT`). The value is also `true` for ``StreamError/unexpectedEnd(received:)``, for an end inside the
    /// header of a proxy, and for the reset and the timeout of a `MemoryStream`, which is a stream in memory for
    /// tests. It is `true` for a TLS connection that the peer ends without `close_notify`, or during the handshake.
    ///
    /// A ``Futures/CleanUpError`` holds two errors. For a `CleanUpError`, the value is `true` if both of
    /// these errors mean that the peer has disconnected. The value is also `true` if only the first one means
    /// this, and the second one, the error of the clean-up, is ``StreamError/connectionClosed``.
    ///
    /// The value is `false` for any other error. Examples are a time limit of ``StreamLimits`` that has passed,
    /// and a connection that could not be made.
    public var isDisconnection: Bool { (self as? any Disconnecting)?.meansDisconnection ?? false }
}

/// An error that may mean only that the peer has left.
package protocol Disconnecting: Error {
    var meansDisconnection: Bool { get }
}

extension CleanUpError: Disconnecting {
    /// Whether both errors mean only that the peer has left. The clean-up may also have failed because the
    /// connection was closed already.
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
