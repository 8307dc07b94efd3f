public import FoundationEssentials

extension Data {
    /// A copy of `bytes`, to keep.
    public init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
}
