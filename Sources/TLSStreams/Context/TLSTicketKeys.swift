public import FoundationEssentials
internal import Futures

/// The keys with which a server encrypts session tickets. Processes that share the keys resume each other's sessions,
/// if they make the same demands on their clients.
///
/// To rotate the keys, insert a new one at the front, reload the contexts of all processes, and remove the last key
/// when its tickets have expired. Tickets are valid for two hours. Anyone who has a key can decrypt recorded TLS 1.2
/// sessions, so rotate the keys often, and keep them in memory only.
public struct TLSTicketKeys: Hashable, Sendable {
    /// The size of a key in bytes: a name of 16, and 32 each to encrypt and to sign.
    public static let keySize = 80
    /// The maximum number of keys.
    public static let maxCount = 8

    /// The keys. The first encrypts new tickets.
    public let keys: [Data]

    /// Creates the list of `keys`, 80 random bytes each.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if there is no key, if there are more than 8, or if a key
    /// does not have 80 bytes.
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
