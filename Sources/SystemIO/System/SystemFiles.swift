internal import CFuturesSystem
internal import Glibc

/// The files of the operating system.
package struct SystemFiles: FileSystem {
    package init() {}

    package func openDirectory(at path: String) throws(SystemError) -> any DirectoryHandle {
        // A zero byte would cut the path off.
        guard !path.utf8.contains(0) else { throw SystemError(-EINVAL, "open") }
        let descriptor = unsafe StandardDescriptors.leave(
            RelativePath(checked: path).withCString {
                unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
            })
        guard descriptor >= 0 else { throw SystemError(-errno, "open") }
        return SystemDescriptor(descriptor)
    }
}

/// A directory of the operating system.
extension SystemDescriptor: DirectoryHandle {
    /// Opens `path` below this directory, or fails: the kernel never opens anything outside.
    private func openBeneath(
        _ path: RelativePath, _ flags: CInt, _ permissions: UInt32 = 0, crossesMounts: Bool = true
    ) throws(SystemError) -> CInt {
        var rules = UInt32(RESOLVE_BENEATH_ONLY | RESOLVE_NO_MAGIC_LINKS)
        if !crossesMounts { rules |= UInt32(RESOLVE_NO_MOUNTS) }
        let opened = unsafe path.withCString { unsafe open_by_rules(number, $0, flags, permissions, rules) }
        guard opened >= 0 else { throw SystemError(opened, "openat2") }
        let descriptor = StandardDescriptors.leave(opened)
        guard descriptor >= 0 else { throw SystemError(-errno, "openat2") }
        return descriptor
    }

    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any FileHandle {
        // Without `O_NONBLOCK`, opening a FIFO or a device would make the thread wait.
        var flags = O_NONBLOCK | O_NOCTTY
        flags |= opening.writes ? opening.reads ? O_RDWR : O_WRONLY : O_RDONLY
        switch opening.creation {
        case .never: break
        case .ifMissing: flags |= O_CREAT
        case .always: flags |= O_CREAT | O_EXCL
        }
        let file: SystemDescriptor
        do throws(SystemError) {
            file = SystemDescriptor(
                try openBeneath(path, flags, opening.creation == .never ? 0 : opening.permissions))
        } catch {
            // A socket, or a FIFO that nobody reads.
            throw error.code.rawValue == -ENXIO ? SystemError(.notSupported, "openat2") : error
        }
        switch try file.information().kind {
        case .regularFile: break
        case .directory: throw SystemError(-EISDIR, "openat2")
        default: throw SystemError(.notSupported, "openat2")
        }
        // Not by `O_TRUNC` when opening, which would also touch files of other kinds.
        if opening.truncates { try file.truncate(to: 0) }
        return file
    }

    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW)
        return SystemDescriptor(try openBeneath(path, flags))
    }

    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW
        return SystemDescriptor(try openBeneath(name, flags, crossesMounts: false))
    }

    /// Opens a file of any kind to examine it, which needs no permission to read it.
    private func look(at path: RelativePath, followsLink: Bool) throws(SystemError) -> SystemDescriptor {
        SystemDescriptor(try openBeneath(path, CInt(OPEN_PATH) | (followsLink ? 0 : O_NOFOLLOW)))
    }

    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation {
        try look(at: path, followsLink: followsLink).information()
    }

    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError) {
        let file = try look(at: path, followsLink: true)
        // `fchmod` refuses such a descriptor, and `fchmodat` would follow a link that leaves the directory.
        try SystemError.check(change_permissions(file.number, permissions), "chmod")
    }

    func makeListing() throws(SystemError) -> any DirectoryListing {
        // A directory that is opened again has a position of its own.
        SystemListing(try openBeneath(.here, O_RDONLY | O_DIRECTORY))
    }

    func sync() throws(SystemError) { try sync(dataOnly: false) }

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError) {
        try check(unsafe name.withCString { unsafe mkdirat(number, $0, permissions) }, "mkdir")
    }

    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError) {
        let flags = replacing ? 0 : UInt32(RENAME_WITHOUT_REPLACING)
        let status = unsafe name.withCString { old in
            unsafe newName.withCString {
                unsafe rename_with_flags(number, old, target.systemDescriptor, $0, flags)
            }
        }
        try check(status, "rename")
    }

    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError) {
        let status = unsafe name.withCString {
            unsafe unlinkat(number, $0, isDirectory ? CInt(AT_REMOVEDIR) : 0)
        }
        try check(status, isDirectory ? "rmdir" : "unlink")
    }

    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle)
        throws(SystemError)
    {
        let status = unsafe name.withCString { old in
            unsafe newName.withCString { unsafe linkat(number, old, target.systemDescriptor, $0, 0) }
        }
        try check(status, "link")
    }

    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(SystemError) {
        let status = unsafe RelativePath(checked: target).withCString { target in
            unsafe name.withCString { unsafe symlinkat(target, number, $0) }
        }
        try check(status, "symlink")
    }

    func symbolicLinkTarget(_ name: RelativePath) throws(SystemError) -> String {
        try unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) {
            buffer throws(SystemError) in
            let count = unsafe name.withCString {
                unsafe readlinkat(number, $0, buffer.baseAddress!, buffer.count)
            }
            guard count >= 0 else { throw SystemError(-errno, "readlink") }
            return unsafe String(systemBytes: UnsafeRawBufferPointer(buffer).prefix(count))
        }
    }

    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any FileHandle {
        SystemDescriptor(try openBeneath(.here, CInt(OPEN_UNNAMED) | O_RDWR, permissions))
    }

    func link(unnamed file: any FileHandle, as name: RelativePath) throws(SystemError) {
        let status = unsafe name.withCString { unsafe link_open_file(file.descriptor!, number, $0) }
        try SystemError.check(status, "link")
    }
}

extension DirectoryHandle {
    /// The descriptor of a directory of the operating system.
    fileprivate var systemDescriptor: CInt {
        guard let descriptor else {
            trap("A directory of a simulated system was used with one of the real system.")
        }
        return descriptor
    }
}

extension RelativePath {
    /// Creates a path from a name of the system, which ends at a zero byte.
    package init(system name: UnsafePointer<CChar>) {
        self.init(bytes: unsafe Array(UnsafeRawBufferPointer(start: name, count: strlen(name))))
    }

    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe (bytes + [0]).withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe body($0.baseAddress!) }
        }
    }
}

private func check(_ status: CInt, _ operation: String) throws(SystemError) {
    if status != 0 { throw SystemError(-errno, operation) }
}
