public import FoundationEssentials

extension Data {
    /// The bytes, decoded as UTF-8. Invalid bytes become U+FFFD, so this never fails. To refuse invalid
    /// bytes, call `String(validating: bytes, as: UTF8.self)`.
    public var text: String { String(decoding: self, as: UTF8.self) }
}
