internal import Glibc

/// An option; `nil` if `descriptor` is no socket that has it, or not open, as `errno` then says.
func socketOption(_ option: CInt, at level: CInt = SOL_SOCKET, of descriptor: CInt) -> CInt? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
}

/// The status of the system.
func setSocketOption(_ level: CInt, _ option: CInt, _ value: CInt, of descriptor: CInt) -> CInt {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}
