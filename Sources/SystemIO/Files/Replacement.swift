internal import FoundationEssentials

/// New contents of a file, which atomically replace the old ones.
struct Replacement: Sendable {
    let contents: Data
    let isDurable: Bool
    let permissions: UInt32?
    /// A number that no other replacement of the directory has.
    let number: UInt64
    let file: FileName

    func perform(in directory: any DirectoryHandle, _ name: RelativePath) throws {
        let temporary = RelativePath(temporary: number, prefix: ".replace-")
        let opening = FileOpening(reads: false, writes: true, creation: .always)
        let handle = try directory.openFile(temporary, opening)
        do {
            try handle.writeAll(contents, at: 0, file)
            if let permissions = try permissions ?? existingPermissions(in: directory, name) {
                try handle.setPermissions(to: permissions)
            }
            if isDurable { try handle.sync(dataOnly: false) }
            try handle.close()
            try directory.rename(temporary, to: name, in: directory, replacing: true)
        } catch {
            // If this fails, too, the first error is the one to report.
            try? directory.remove(temporary, isDirectory: false)
            throw error
        }
        if isDurable { try directory.sync() }
    }

    private func existingPermissions(
        in directory: any DirectoryHandle, _ name: RelativePath
    ) throws(SystemError) -> UInt32? {
        try ifThere { () throws(SystemError) in
            let old = try directory.information(of: name, followsLink: false)
            return old.kind == .regularFile ? old.permissions : nil
        }
    }
}
