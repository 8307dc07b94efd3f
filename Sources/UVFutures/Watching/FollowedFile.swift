internal import FoundationEssentials
internal import Futures

/// A file that is followed, and how far it has been read.
struct FollowedFile: Sendable {
    private static let block = 65_536
    private static let lineFeed = UInt8(ascii: "\n")
    private static let mostLinks = 40

    let handle: any FileHandle
    private let inode, device: UInt64
    private var position: Int
    /// Whether the last byte that was read has ended a line.
    private var isBetweenLines = true

    /// What a look at the file has found.
    struct Look: Sendable {
        var file: FollowedFile?
        /// The next bytes. Empty if there are none yet.
        var bytes = Data()
        /// Whether the file has lost its name, and may still be written by programs that have it open.
        var hasLostName = false
    }

    private init(_ handle: any FileHandle, _ information: FileInformation, atEnd: Bool) {
        self.handle = handle
        (inode, device) = (information.inode, information.device)
        position = atEnd ? information.size : 0
    }

    /// Opens the file at `path`. Returns `nil` if there is none. Blocks, as all of these functions.
    static func open(_ path: String, atEnd: Bool, in files: any FileSystem) throws -> FollowedFile? {
        var path = path
        for _ in 0..<mostLinks {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard let last = parts.last, !last.isEmpty else { throw UVError(.isDirectory, "open") }
            let parent = path.dropLast(last.count)
            let directory = try files.openDirectory(at: parent.isEmpty ? "." : String(parent))
            let name = RelativePath(bytes: Array(last.utf8))
            do throws(UVError) {
                let found = try directory.information(of: name, followsLink: false)
                guard found.kind == .symbolicLink else {
                    let handle = try directory.openFile(name, FileOpening())
                    return FollowedFile(handle, try handle.information(), atEnd: atEnd)
                }
                let target = try directory.symbolicLinkTarget(name)
                path = target.hasPrefix("/") ? target : parent + target
            } catch {
                if error.code == .notFound { return nil }
                throw error
            }
        }
        throw UVError(.tooManyLinks, "open")
    }

    /// Looks for the next bytes of `file`, or of the file that has taken its name.
    static func look(at path: String, after file: FollowedFile?, in files: any FileSystem) throws -> Look {
        var look = Look(file: file)
        look.bytes = try look.file?.read() ?? Data()
        guard look.bytes.isEmpty else { return look }
        let named: FollowedFile?
        do {
            named = try open(path, atEnd: false, in: files)
        } catch let error as UVError {
            // The directory may come again. Until then, the watch tells whether it is missed.
            guard error.meansGone else { throw error }
            named = nil
        }
        guard let current = look.file else {
            look.file = named
            look.bytes = try look.file?.read() ?? Data()
            return look
        }
        if let named, named.inode == current.inode, named.device == current.device { return look }
        guard var named, try named.handle.information().size > 0 else {
            look.hasLostName = true
            return look
        }
        // Who writes the new file has written the last bytes of the old one before.
        look.bytes = try look.file!.read()
        guard look.bytes.isEmpty else { return look }
        if !current.isBetweenLines { look.bytes.append(lineFeed) }
        look.bytes += try named.read()
        look.file = named
        return look
    }

    /// Reads the next bytes. If the file is shorter than what was read, reads from its beginning.
    private mutating func read() throws(UVError) -> Data {
        var bytes = try handle.read(Self.block, at: position)
        if bytes.isEmpty, position > 0, try handle.information().size < position {
            position = 0
            bytes = try handle.read(Self.block, at: 0)
        }
        position += bytes.count
        if let last = bytes.last { isBetweenLines = last == Self.lineFeed }
        return bytes
    }
}
