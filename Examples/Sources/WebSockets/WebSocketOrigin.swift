public import HTTP1

extension WebSocketHandshake {
    /// Whether the page that opens the WebSocket is of the host that the request names, or of one of `origins`. A browser tells
    /// where its page comes from, and does not keep a page from sites of others. Programs tell nothing, and may come.
    ///
    /// To be refused with status 403 otherwise (RFC 6455, section 10.2).
    public static func isWanted(_ head: RequestHead, of origins: [String] = []) -> Bool {
        guard let origin = head.fields["origin"]?.lowercased() else { return true }
        if origins.contains(where: { $0.lowercased() == origin }) { return true }
        guard let scheme = ["http://", "https://"].first(where: origin.hasPrefix) else { return false }
        return origin.dropFirst(scheme.count) == head.fields["host"]?.lowercased() ?? ""
    }
}
