internal import FoundationEssentials

/// An open file that has or had the followed name, and how far it has been read.
struct FollowedFile: Sendable {
    private static let block = 65_536
    private static let lineFeed = UInt8(ascii: "\n")

    private let handle: any FileHandle
    private(set) var position: FollowStream.Position
    /// Whether the last byte that was read ended a line.
    private(set) var isBetweenLines = true

    /// Some bytes of a file, or an inserted line feed, and the place where they begin.
    struct Part: Sendable {
        let bytes: Data
        let start: FollowStream.Position
        var isOfFile = true
    }

    init(_ handle: any FileHandle) throws(SystemError) {
        let file = try handle.information()
        self.handle = handle
        position = .init(device: file.device, inode: file.inode, birth: handle.birth, offset: 0)
    }

    func isSame(as place: FollowStream.Position) -> Bool {
        place.device == position.device && place.inode == position.inode && place.birth == position.birth
    }

    func information() throws(SystemError) -> FileInformation { try handle.information() }

    mutating func skipToEnd() throws(SystemError) { position.offset = try handle.information().size }

    /// Continues at `offset`. Returns the loss if the file ends before `offset`.
    mutating func skip(to offset: Int) throws(SystemError) -> FollowStream.Loss? {
        position.offset = offset
        if offset > 0 { isBetweenLines = try handle.read(1, at: offset - 1).first == Self.lineFeed }
        return try beginAgainIfCutOff()
    }

    /// Returns to the beginning if the file is shorter than what was read.
    private mutating func beginAgainIfCutOff() throws(SystemError) -> FollowStream.Loss? {
        guard try handle.information().size < position.offset else { return nil }
        defer { position.offset = 0 }
        return .cutOff(after: position)
    }

    /// Reads the next bytes. Returns `nil` if there are none yet.
    mutating func read(_ losses: inout [FollowStream.Loss]) throws(SystemError) -> Part? {
        var bytes = try handle.read(Self.block, at: position.offset)
        if bytes.isEmpty, let loss = try beginAgainIfCutOff() {
            losses.append(loss)
            bytes = try handle.read(Self.block, at: 0)
        }
        guard let last = bytes.last else { return nil }
        defer { position.offset += bytes.count }
        isBetweenLines = last == Self.lineFeed
        return Part(bytes: bytes, start: position)
    }

    /// Returns a line feed if the file ends in the middle of a line.
    func endOfLine() -> Part? {
        isBetweenLines ? nil : Part(bytes: Data([Self.lineFeed]), start: position, isOfFile: false)
    }
}
