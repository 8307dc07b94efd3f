/// The state of a resource, against which the conditions of a request are held.
public struct Validators: Hashable, Sendable {
    /// The tag, with its quotation marks.
    public let tag: String
    public let modified: HTTPDate

    public init(tag: String, modified: HTTPDate) {
        self.tag = tag
        self.modified = modified
    }

    /// Whether a `GET` or `HEAD` with `fields` has what it asks for already, and is answered with status 304: its
    /// `If-None-Match` names the tag or, where that is missing, its `If-Modified-Since` is not before the last change.
    public func isNotModified(_ fields: Fields) -> Bool {
        if let tags = fields["if-none-match"] { return Self.list(tags, names: tag) }
        guard let since = fields["if-modified-since"].flatMap({ HTTPDate($0) }) else { return false }
        return modified <= since
    }

    /// Whether the `Range` of a request counts: its `If-Range` is missing, or names what is there now.
    public func allowsRange(_ fields: Fields) -> Bool {
        guard let condition = fields["if-range"] else { return true }
        return condition.hasPrefix("\"") ? condition == tag : HTTPDate(condition) == modified
    }

    /// Whether `list` is `*` or has `tag` in it. A tag may have commas, so quotation marks are what counts. Weak tags are
    /// compared as others are.
    private static func list(_ list: String, names tag: String) -> Bool {
        if list == "*" { return true }
        let parts = list.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.contains { $0 % 2 == 1 && $0 + 1 < parts.count && "\"\(parts[$0])\"" == tag }
    }
}
