internal import Futures

/// The limits of a ``FileWatch``: how many directories it watches, and how many changes it keeps.
public struct FileWatchLimits: Hashable, Sendable {
    /// The maximum number of directories in a watched tree. With more, the watch ends with
    /// ``FileWatchError/tooManyDirectories(path:limit:)``.
    public var maxDirectories = 100_000
    /// The maximum number of changes that wait for your code. With more, one ``FileChange/Kind/lookAgain`` replaces
    /// them all.
    public var maxChanges = 16_384

    public init() {}

    func validate() throws {
        try requireArgument("maxDirectories", maxDirectories, atLeast: 1)
        try requireArgument("maxChanges", maxChanges, atLeast: 1)
    }
}
