internal import Futures
internal import Glibc

/// Returns the value of a socket option. Returns `nil` and sets `errno` if the descriptor is not open, or is
/// not a socket with this option.
package func socketOption(_ option: CInt, at level: CInt = SOL_SOCKET, of descriptor: CInt) -> CInt? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
}

/// Returns the type of a socket that a user hands over, such as `SOCK_STREAM`. Throws `FutureError.invalidArgument` if
/// the descriptor is not a socket. In that error, `name` is the name of the descriptor, and `purpose` says which socket
/// is needed, such as `that listens`.
func typeOfSocket(_ descriptor: CInt, called name: String, _ purpose: String) throws -> CInt {
    if let type = socketOption(SO_TYPE, of: descriptor) { return type }
    throw FutureError.invalidArgument(
        errno == ENOTSOCK
            ? "\(name) is not a socket; give one \(purpose)"
            : "\(name) is not open; give the descriptor of a socket \(purpose)")
}

/// Sets a socket option, and returns the status of the system.
package func setSocketOption(_ level: CInt, _ option: CInt, _ value: CInt, of descriptor: CInt) -> CInt {
    var value = value
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
}

/// Binds a socket to the network interface `name`. Returns `false` and sets `errno` if that fails.
package func bindToDevice(_ descriptor: CInt, _ name: String) -> Bool {
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count)) == 0
}
