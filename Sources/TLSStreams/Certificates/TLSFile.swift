public import FoundationEssentials
internal import Futures

/// PEM text: certificates, a private key or revocation lists, from a file or from memory.
public enum TLSFile: Hashable, Sendable {
    /// The file at this path. It is read when a context is made or reloaded, on the thread of the caller.
    case path(String)
    /// The text itself.
    case pem(Data)

    /// Returns the text. `what` names the contents in an error.
    package func contents(of what: String) throws -> Data {
        switch self {
        case .pem(let data): return data
        case .path(let path):
            do {
                return try Data(contentsOf: URL(filePath: path))
            } catch {
                throw FutureError.invalidArgument(
                    "\(what) cannot be read from \(path); give the path of a PEM file that this process may read"
                )
            }
        }
    }

    /// Where the text comes from, for an error.
    package var place: String {
        switch self {
        case .path(let path): path
        case .pem: "the given text"
        }
    }
}
