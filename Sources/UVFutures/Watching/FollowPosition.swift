extension FollowStream {
    /// A place in a file that is followed. A program that keeps it goes on there: `File.follow(path, from: .position(position))`.
    ///
    /// It knows the file itself, and not its name: the log that was read may have another name by then.
    public struct Position: Hashable, Sendable, Codable {
        /// The numbers of the file and of its file system.
        public let device, inode: UInt64
        /// When the file was made, in nanoseconds since 1970, since the system gives the numbers of a removed file to
        /// another one. 0 if the file system does not keep it.
        public let birth: Int64
        /// The number of bytes before the place.
        public internal(set) var offset: Int
    }

    /// What a stream cannot read any more.
    public enum Loss: Hashable, Sendable {
        /// At least so many files, which had the name after the one of this place, and were removed or compressed before they
        /// were read. If the place is the one that a follow was to begin at, the rest of its own file is one of them.
        case files(atLeast: Int, after: Position)
        /// What was written behind this place, and was cut off before it was read. If the file was emptied when it had been
        /// read to its end, that is nothing.
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
            "what was written after \(place) was cut off, and is lost if it had not been read"
        }
    }
}
