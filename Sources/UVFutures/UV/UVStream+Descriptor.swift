internal import CLibUV
internal import CSystem
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
}
