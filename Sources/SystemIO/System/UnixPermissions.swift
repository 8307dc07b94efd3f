internal import Futures

extension SocketAddress {
    /// Throws an error if the file of a socket at this address cannot have `permissions`.
    func check(_ permissions: UInt32?) throws {
        guard let permissions else { return }
        try requireArgument(
            permissions <= 0o777,
            "permissions must be from 0o000 to 0o777, not 0o\(String(permissions, radix: 8))")
        try requireArgument(
            !isAbstract,
            "the abstract name \(path!) can have no permissions: everybody can connect; leave them out, and "
                + "check peerCredentials")
    }
}
