internal import FoundationEssentials

/// The sessions that a client may resume, by the host and the port of the server.
final class SessionCache {
    private static let maxHosts = 1000
    private static let maxPerHost = 4

    private struct Entry {
        let session: OpenSSLSession
        /// When the certificate of the server expires. A session does not outlive it.
        let expiry: Date
    }

    private var entries: [String: [Entry]] = [:]

    func add(_ session: OpenSSLSession, for host: String, until expiry: Date) {
        if entries[host] == nil, entries.count >= Self.maxHosts, let other = entries.keys.first {
            entries[other] = nil
        }
        entries[host, default: []].append(Entry(session: session, expiry: expiry))
        if entries[host]!.count > Self.maxPerHost { entries[host]!.removeFirst() }
    }

    /// Returns the newest session. One of TLS 1.3 is used once, so that nobody can tell that two connections are of one
    /// client.
    func session(for host: String, at now: Date) -> OpenSSLSession? {
        while let entry = entries[host]?.last {
            if entry.expiry > now, !entry.session.isForOneUse { return entry.session }
            entries[host]!.removeLast()
            if entries[host]!.isEmpty { entries[host] = nil }
            if entry.expiry > now { return entry.session }
        }
        return nil
    }

    func removeAll() { entries = [:] }
}
