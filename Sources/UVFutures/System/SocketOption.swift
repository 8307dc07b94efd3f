internal import Glibc

/// Returns an option; `nil`, with `errno`, if `descriptor` is not a socket that has it, or is not open.
func socketOption(_ option: CInt, at level: CInt = SOL_SOCKET, of descriptor: CInt) -> CInt? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
}

/// Sets an option, and returns the status of the system.
func setSocketOption(_ level: CInt, _ option: CInt, _ value: CInt, of descriptor: CInt) -> CInt {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}
