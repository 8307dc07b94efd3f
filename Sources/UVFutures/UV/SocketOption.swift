internal import Glibc

/// An option at the level of sockets; `nil` if `descriptor` is no socket, or not open, as `errno` then says.
func socketOption(_ option: CInt, of descriptor: CInt) -> CInt? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
}

/// The status of the system.
func setSocketOption(_ level: CInt, _ option: CInt, _ value: CInt, of descriptor: CInt) -> CInt {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}
