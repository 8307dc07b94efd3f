/// The open watches of files of a loop, and what all its watches have done so far.
package struct OpenWatches {
    /// Returns the description of each open watch, in one line.
    package var lines: [ObjectIdentifier: () -> String] = [:]
    package var counts = FileWatchCounts()
}

/// What has become of the changes of files that were found.
package struct FileWatchCounts: Hashable, Sendable {
    /// The changes that were handed to code that watches.
    package var told: UInt64 = 0
    /// The changes that were told as a part of another one, or not at all because another one took them back.
    package var merged: UInt64 = 0
    /// The times that single changes were given up.
    package var overflows: UInt64 = 0

    package init() {}
}
