internal import CFuturesSystem

/// A pass over the entries of a directory of the operating system.
package final class SystemListing: DirectoryListing {
    private static let portion = 32 * 1024
    private let file: SystemDescriptor

    package init(_ descriptor: CInt) { file = SystemDescriptor(descriptor) }

    package func next() throws(SystemError) -> [DirectoryEntry] {
        try unsafe withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 8) {
            buffer throws(SystemError) in
            var entries: [DirectoryEntry] = []
            while entries.isEmpty {
                let count = unsafe read_directory(file.number, buffer.baseAddress!, buffer.count)
                guard count >= 0 else { throw SystemError(CInt(count), "getdents") }
                if count == 0 { break }
                unsafe entries = Self.entries(in: buffer[..<count])
            }
            return entries
        }
    }

    /// Closes the descriptor before the listing is released.
    package func close() { try? file.close() }

    private static func entries(in records: Slice<UnsafeMutableRawBufferPointer>) -> [DirectoryEntry] {
        var entries: [DirectoryEntry] = []
        var offset = 0
        while unsafe offset < records.count {
            let record = unsafe (records.base.baseAddress! + offset).assumingMemoryBound(
                to: directory_record.self)
            if let name = unsafe name_of_entry(record) {
                let path = unsafe RelativePath(system: name)
                unsafe entries.append(
                    DirectoryEntry(path, FileKind(mode: mode_of_record(record)), inode: record.pointee.inode))
            }
            unsafe offset += Int(record.pointee.size)
        }
        return entries
    }
}
