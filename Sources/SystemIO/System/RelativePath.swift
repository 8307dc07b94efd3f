package import Futures

/// A path below a directory, or the name of one entry. It holds the bytes of the system, which need not be UTF-8.
package struct RelativePath: Hashable, Sendable {
    /// From a user's text: at least one byte, none of them zero, and the first one is not a slash.
    package let bytes: [UInt8]

    /// Creates a path from a user's text. Throws `FutureError.invalidArgument` if the text is not a relative path.
    package init(_ text: String) throws(FutureError) {
        try requireArgument(
            !text.isEmpty, "the path is empty; give a name, or \".\" for the directory itself")
        try requireArgument(
            !text.utf8.contains(0),
            "the path \"\(text.escapedZeros)\" has a zero byte, which ends a path; leave it out")
        try requireArgument(
            text.utf8.first != Self.slash,
            "the path \(text) is absolute, and leaves the directory; give a path relative to the directory")
        bytes = text.systemBytes
    }

    /// Creates a path from bytes that came from the system.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a path from a text that has been checked, or that the system gave. It may be absolute.
    package init(checked text: String) { bytes = text.systemBytes }

    package var isAbsolute: Bool { bytes.first == Self.slash }

    private static let slash = UInt8(ascii: "/")

    /// The components. `.` and empty ones are left out.
    package var components: [RelativePath] {
        bytes.split(separator: Self.slash).filter { !$0.elementsEqual(".".utf8) }.map {
            RelativePath(bytes: Array($0))
        }
    }

    /// The directory itself: `.`.
    package static let here = RelativePath(bytes: [UInt8(ascii: ".")])

    package var isParent: Bool { bytes == Array("..".utf8) }

    /// Returns the path of the entry called `name` in the directory at this path.
    package func appending(_ name: RelativePath) -> RelativePath {
        RelativePath(bytes: bytes + [Self.slash] + name.bytes)
    }

    /// Returns the path of the parent directory and the name of the entry. The parent is `nil` for an entry of the
    /// directory itself. Throws `FutureError.invalidArgument` if the last component is not a name.
    package func split() throws(FutureError) -> (parent: RelativePath?, name: RelativePath) {
        let components = components
        guard let name = components.last, !name.isParent else {
            throw .invalidArgument(
                "the path \(self) does not end with the name of an entry; give one that does")
        }
        guard components.count > 1 else { return (nil, name) }
        return (components.dropLast().joined, name)
    }
}

extension Collection<RelativePath> {
    /// The path made of these names.
    var joined: RelativePath {
        RelativePath(bytes: [UInt8](map(\.bytes).joined(separator: CollectionOfOne(UInt8(ascii: "/")))))
    }
}

extension RelativePath: CustomStringConvertible {
    package var description: String { String(systemBytes: bytes) }
}

extension String {
    fileprivate var escapedZeros: String {
        split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\\0")
    }
}
