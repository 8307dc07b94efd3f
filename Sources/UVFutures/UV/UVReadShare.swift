/// The time for which a stream may fill the block with one read after the other. libuv reads up to 32 times in a row,
/// and everybody else waits meanwhile.
struct UVReadShare {
    /// The stream that filled the block last. Used only for comparison.
    private var stream: ObjectIdentifier?
    private(set) var end: UInt64 = 0

    /// Whether some stream may have to give way.
    var isWatched: Bool { stream != nil }

    func belongs(to stream: UVStream) -> Bool { self.stream == ObjectIdentifier(stream) }

    mutating func begin(_ stream: UVStream, until end: UInt64) {
        (self.stream, self.end) = (ObjectIdentifier(stream), end)
    }

    mutating func stop() { stream = nil }
}
