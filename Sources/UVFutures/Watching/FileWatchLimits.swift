internal import ByteStreams
internal import Futures

/// The limits of a ``FileWatch``: how much it keeps in memory, and of the system's watches.
public struct FileWatchLimits: Hashable, Sendable {
    /// The most directories that a watch of a tree may have. With more, the watch ends with
    /// ``FileWatchError/tooManyDirectories(path:limit:)``.
    public var maxDirectories = 100_000
    /// The most changes that wait for your code. With more, one ``FileChange/Kind/lookAgain`` takes their place.
    public var maxChanges = 16_384

    public init() {}

    func validate() throws {
        try requireArgument(
            maxDirectories > 0, "maxDirectories must be at least 1, not \(maxDirectories)")
        try requireArgument(
            maxChanges > 0, "maxChanges must be at least 1, not \(maxChanges)")
    }
}
