internal import ByteStreams
public import Futures

/// The error of an operation that failed in the system.
///
/// To catch a certain error, write `catch let error as SystemError where error.code == .connectionRefused`.
public struct SystemError: Error, Hashable, Sendable {
    /// An error code as in libuv: the negated `errno` of a system call, or -3000 to -3014 for an error of a look-up.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: CInt

        public init(rawValue: CInt) { self.rawValue = rawValue }
    }

    public let code: Code
    /// The operation that failed, such as `connect`.
    public let operation: String
    public let localAddress: SocketAddress?
    public let peerAddress: SocketAddress?

    package init(_ status: CInt, _ operation: String, local: SocketAddress? = nil, peer: SocketAddress? = nil)
    {
        self.init(Code(rawValue: status), operation, local: local, peer: peer)
    }

    package init(_ code: Code, _ operation: String, local: SocketAddress? = nil, peer: SocketAddress? = nil) {
        self.code = code
        self.operation = operation
        localAddress = local
        peerAddress = peer
    }
}

extension SystemError {
    /// Throws an error if `status`, which is 0 or a negated `errno`, is not 0.
    package static func check(_ status: CInt, _ operation: String) throws(SystemError) {
        if status != 0 { throw SystemError(status, operation) }
    }

    /// Returns the error that no thread could be started.
    package static func noThread(_ code: Code) -> SystemError { SystemError(code, "pthread_create") }
}

extension SystemError: CustomStringConvertible {
    /// The error in one line, such as `connect ECONNREFUSED 127.0.0.1:9: connection refused`.
    public var description: String {
        let address = (peerAddress ?? localAddress).map { " \($0)" } ?? ""
        return "\(operation) \(code.name)\(address): \(code.message)"
    }
}

extension SystemError.Code: CustomStringConvertible {
    public var description: String { name }
}

extension SystemError: CancellationIndicating {
    public var isCancellation: Bool { code == .cancelled }
}

extension SystemError: Disconnecting {
    package var meansDisconnection: Bool {
        guard operation != "connect" else { return false }
        return switch code {
        case .brokenPipe, .connectionAborted, .connectionReset, .notConnected, .timedOut: true
        default: false
        }
    }
}
