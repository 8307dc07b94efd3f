internal import CFuturesSystem
internal import FoundationEssentials
internal import Glibc
internal import SystemIO

extension UVStream {
    final func readPeerCredentials() throws(SystemError) -> (process: Int32, user: UInt32, group: UInt32) {
        // `struct ucred`, a GNU extension.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        let status = unsafe getsockopt(descriptor ?? -1, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        if status != 0 { throw SystemError(-errno, "peer credentials", local: nil, peer: nil) }
        return credentials
    }

    final func duplicate() throws(SystemError) -> CInt {
        let copy = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? -1
        guard copy >= 0 else { throw error(-errno, "release") }
        return copy
    }

    /// Takes the bytes that wait in the system, for the new owner of the connection.
    final func takeUndelivered() -> [Data] {
        var blocks: [Data] = []
        // The driver's block is not free: other code may be looking at its bytes.
        var block = Data(count: 65_536)
        while let descriptor = soundDescriptor {
            let count = unsafe block.withUnsafeMutableBytes { block in
                unsafe recv(descriptor, block.baseAddress, block.count, CInt(MSG_DONTWAIT))
            }
            guard count > 0 else { break }
            blocks.append(Data(block.prefix(count)))
        }
        return blocks
    }
}
