public import Futures

extension Error {
    /// Whether this error means only that the peer has disconnected. Clients may disconnect at any time, so
    /// there is usually no need to report such an error.
    ///
    /// ```swift
    /// server.onConnectionError = { error in
    ///     if !error.isDisconnection { print("a connection failed: \(error)") }
    /// }
    /// ```
    ///
    /// The value is `true` if the peer has reset the connection (`ECONNRESET`, `EPIPE`), if the peer does not
    /// answer any more (`ETIMEDOUT`), for ``StreamError/unexpectedEnd(received:)``, and for the same failures
    /// of a stream in memory. The value is also `true` for a ``Futures/CleanUpError`` whose first error is
    /// such an error, if the clean-up failed with such an error too, or because the connection was closed
    /// already. The value is `false` for any other error, for example if a time limit of ``StreamLimits`` has
    /// passed, or if no connection was made.
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
