public import FoundationEssentials

extension Data {
    /// Decodes the bytes as UTF-8. What is no UTF-8 becomes U+FFFD, so this never fails: to refuse it, call
    /// `String(validating: bytes, as: UTF8.self)`.
    public var text: String { String(decoding: self, as: UTF8.self) }
}
