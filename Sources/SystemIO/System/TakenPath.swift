package import Futures

extension SocketAddress {
    /// Returns the error of a socket that cannot be at this path because of a file that is not a socket.
    package func takenByFile(_ operation: String) -> FutureError {
        .invalidArgument(
            "cannot \(operation) at \(path!): there is a file that is not a socket; remove it or give another path"
        )
    }
}
