extension FollowStream {
    /// A place in a followed file. A program that stores it can resume there:
    /// `File.follow(path, from: .position(position))`.
    ///
    /// It identifies the file itself, not its name: the log may have been renamed by then.
    public struct Position: Hashable, Sendable, Codable {
        /// The numbers of the file system and of the file's inode.
        public let device, inode: UInt64
        /// The creation time of the file in nanoseconds since 1970. It is needed because the system reuses the inode
        /// number of a removed file. 0 if the file system does not record it.
        public let birth: Int64
        /// The number of bytes in the file before the place.
        public internal(set) var offset: Int
    }

    /// Data that a stream can no longer read.
    public enum Loss: Hashable, Sendable {
        /// At least this many files were removed or compressed before they were read. Each of them had the name later
        /// than the file of this place. If the stream was to begin at this place, the rest of that file counts as one
        /// of them.
        case files(atLeast: Int, after: Position)
        /// The bytes after this place were cut off before they were read. If the file was emptied after it had been
        /// read to its end, nothing is lost.
        case cutOff(after: Position)
    }
}

extension FollowStream.Position: CustomStringConvertible {
    /// The place in one line, such as `byte 4096 of inode 131 on device 2049`.
    public var description: String { "byte \(offset) of inode \(inode) on device \(device)" }
}

extension FollowStream.Loss: CustomStringConvertible {
    /// The loss in one line, such as `at least 2 files are lost after byte 4096 of inode 131 on device 2049`.
    public var description: String {
        switch self {
        case .files(1, let place): "at least 1 file is lost after \(place)"
        case .files(let count, let place): "at least \(count) files are lost after \(place)"
        case .cutOff(let place):
            "what was written after \(place) was cut off, and is lost unless it had been read"
        }
    }
}
