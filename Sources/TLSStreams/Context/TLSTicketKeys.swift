public import FoundationEssentials
internal import Futures

/// The keys with which a server encrypts the tickets of its sessions. Processes that share the keys resume each
/// other's sessions, if they ask their clients for the same.
///
/// To rotate the keys, put a new one in front, reload the contexts of all processes, and drop the last key when its
/// tickets, which are valid for two hours, have expired. Anyone who has a key can read recorded sessions of TLS 1.2, so
/// rotate them often, and keep them in memory only.
public struct TLSTicketKeys: Hashable, Sendable {
    /// The number of bytes of a key: a name of 16, and 32 each to encrypt and to sign.
    public static let keySize = 80
    /// The largest number of keys.
    public static let maxCount = 8

    /// The keys. The first encrypts new tickets.
    public let keys: [Data]

    /// Creates the list of `keys`, 80 random bytes each.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if there is no key, if there are more than 8, or if one has
    /// another size.
    public init(_ keys: [Data]) throws {
        guard (1...Self.maxCount).contains(keys.count), keys.allSatisfy({ $0.count == Self.keySize }) else {
            let sizes = keys.map { "\($0.count)" }.joined(separator: ", ")
            throw FutureError.invalidArgument(
                "there must be 1 to \(Self.maxCount) ticket keys of \(Self.keySize) bytes each, not of [\(sizes)] bytes"
            )
        }
        self.keys = keys
    }
}
