internal import FoundationEssentials

/// The sessions that a client may resume, by the host and the port of the server.
final class SessionCache {
    private static let maxHosts = 1000
    private static let maxPerHost = 4

    private var sessions: [String: [OpenSSLSession]] = [:]

    func add(_ session: OpenSSLSession, for host: String) {
        if sessions[host] == nil, sessions.count >= Self.maxHosts, let other = sessions.keys.first {
            sessions[other] = nil
        }
        sessions[host, default: []].append(session)
        if sessions[host]!.count > Self.maxPerHost { sessions[host]!.removeFirst() }
    }

    /// Returns the newest valid session. A TLS 1.3 session is used only once, so that nobody can link two connections
    /// to the same client.
    func session(for host: String, at now: Date) -> OpenSSLSession? {
        while let session = sessions[host]?.last {
            if session.end > now, !session.isForOneUse { return session }
            sessions[host]!.removeLast()
            if sessions[host]!.isEmpty { sessions[host] = nil }
            if session.end > now { return session }
        }
        return nil
    }
}
