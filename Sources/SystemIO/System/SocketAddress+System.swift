package import Glibc

extension SocketAddress {
    /// Reads the address of this end of a socket. Returns `nil` if the descriptor has no address, or one that is
    /// neither an IP address nor in the UNIX domain. Throws if the system refuses.
    package static func local(of descriptor: CInt, _ operation: String) throws(SystemError) -> SocketAddress?
    {
        try unsafe read(operation) { unsafe getsockname(descriptor, $0, $1) }
    }

    /// Reads the address of the other end, in the same way.
    package static func peer(of descriptor: CInt, _ operation: String) throws(SystemError) -> SocketAddress? {
        try unsafe read(operation) { unsafe getpeername(descriptor, $0, $1) }
    }

    private static func read(
        _ operation: String,
        _ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) throws(SystemError) -> SocketAddress? {
        var address: SocketAddress?
        let status = unsafe read(&address, fill)
        guard status >= 0 || [ENOTCONN, ENOTSOCK, EBADF].contains(errno) else {
            throw SystemError(-errno, operation)
        }
        return address
    }

    /// Calls `fill` and returns its result. If the result is not negative, sets `address` to the address that
    /// `fill` has written: `nil` if that is neither an IP address nor in the UNIX domain.
    package static func read(
        _ address: inout SocketAddress?,
        _ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> CInt {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            let result = unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe fill($0, &length)
            }
            if result >= 0 { address = unsafe SocketAddress(storage, size: Int(length)) }
            return result
        }
    }

    /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
    package var family: CInt {
        switch form {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    package init(_ address: sockaddr_in) {
        let port = UInt16(bigEndian: address.sin_port)
        self.init(.ipv4(UInt32(bigEndian: address.sin_addr.s_addr), port: port))
    }

    package init(_ address: sockaddr_in6) {
        let (high, low) = halves(of: address.sin6_addr)
        self.init(
            .ipv6(
                high: high, low: low, zone: address.sin6_scope_id,
                port: UInt16(bigEndian: address.sin6_port)))
    }

    /// Creates an address from the `size` bytes of the system's form. Returns `nil` if that is neither an IP address
    /// nor in the UNIX domain. Of the UNIX domain, an abstract name ends behind these bytes, and a path ends at a zero
    /// byte.
    package init?(_ name: UnsafeRawPointer?, size: Int) {
        guard let name = unsafe name, size >= MemoryLayout<sa_family_t>.size else { return nil }
        switch CInt(unsafe name.load(as: sa_family_t.self)) {
        case AF_INET where size >= MemoryLayout<sockaddr_in>.size:
            self.init(unsafe name.load(as: sockaddr_in.self))
        case AF_INET6 where size >= MemoryLayout<sockaddr_in6>.size:
            self.init(unsafe name.load(as: sockaddr_in6.self))
        case AF_UNIX:
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: size).dropFirst(pathOffset))
            self.init(.unix(bytes.first == 0 ? bytes : Array(bytes.prefix { $0 != 0 })))
        default: return nil
        }
    }

    /// Creates an address from a numeric `host`. Returns `nil` if `host` is not numeric.
    init?(numericHost host: String, port: UInt16) {
        guard let form = numericForm(host, port) else { return nil }
        self.init(form)
    }

    package func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        func call<Address>(_ address: Address, _ size: Int = MemoryLayout<Address>.size) -> CInt {
            unsafe withUnsafePointer(to: address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(size))
                }
            }
        }
        switch form {
        case .ipv4(let address, let port):
            return call(systemForm(address, port))
        case .ipv6(let high, let low, let zone, let port):
            return call(systemForm(high, low, zone, port))
        case .unix(let name):
            var storage = sockaddr_storage()
            storage.ss_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0[pathOffset...].copyBytes(from: name) }
            // The zero byte behind a path is part of the address, unless the path fills the address.
            let size = name.count + (isAbstract || name.isEmpty ? 0 : 1)
            return call(storage, pathOffset + min(size, SocketAddress.unixSize))
        }
    }
}

/// The form of a numeric address, or `nil` if `host` is not numeric.
private func numericForm(_ host: String, _ port: UInt16) -> SocketAddress.Form? {
    // The system would stop at the zero byte, and read another address.
    guard !host.utf8.contains(0) else { return nil }
    let parts = host.utf8.split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = String(Substring(parts[0]))
    var ipv4 = in_addr()
    if parts.count == 1, unsafe inet_pton(AF_INET, numbers, &ipv4) == 1 {
        return .ipv4(UInt32(bigEndian: ipv4.s_addr), port: port)
    }
    var ipv6 = in6_addr()
    guard unsafe inet_pton(AF_INET6, numbers, &ipv6) == 1 else { return nil }
    let zone = parts.count == 1 ? 0 : scope(of: String(Substring(parts[1])))
    guard parts.count == 1 || zone != 0 else { return nil }
    let (high, low) = halves(of: ipv6)
    return .ipv6(high: high, low: low, zone: zone, port: port)
}

/// The two halves of an address, in the byte order of this machine.
private func halves(of address: in6_addr) -> (high: UInt64, low: UInt64) {
    unsafe withUnsafeBytes(of: address) {
        unsafe (
            UInt64(bigEndian: $0.load(as: UInt64.self)),
            UInt64(bigEndian: $0.load(fromByteOffset: 8, as: UInt64.self))
        )
    }
}

/// Returns the number of the network interface for `zone`, which is a name or a number. Returns 0 for any
/// other text.
private func scope(of zone: String) -> UInt32 {
    let index = unsafe if_nametoindex(zone)
    let isNumber = zone.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return index != 0 ? index : isNumber ? UInt32(zone) ?? 0 : 0
}

/// Returns the text of an IPv4 address, such as `127.0.0.1`. The system's own function takes seven times as long.
func ipv4Text(_ address: UInt32) -> String {
    unsafe String(unsafeUninitializedCapacity: 15) { text in
        var count = 0
        func append(_ character: UInt8) {
            unsafe text[count] = character
            count += 1
        }
        for shift in stride(from: 24, through: 0, by: -8) {
            let byte = UInt8(truncatingIfNeeded: address >> UInt32(shift))
            let zero = UInt8(ascii: "0")
            if shift < 24 { append(UInt8(ascii: ".")) }
            if byte >= 100 { append(zero + byte / 100) }
            if byte >= 10 { append(zero + byte / 10 % 10) }
            append(zero + byte % 10)
        }
        return count
    }
}

/// Returns the shortest usual text of an IPv6 address, such as `fe80::1`.
func ipv6Text(_ high: UInt64, _ low: UInt64) -> String {
    var address = systemForm(high, low, 0, 0).sin6_addr
    return unsafe text(46) { unsafe inet_ntop(AF_INET6, &address, $0, socklen_t($1)) == nil ? -1 : 0 }
}

private func systemForm(_ address: UInt32, _ port: UInt16) -> sockaddr_in {
    var system = sockaddr_in()
    system.sin_family = sa_family_t(AF_INET)
    system.sin_port = port.bigEndian
    system.sin_addr.s_addr = address.bigEndian
    return system
}

private func systemForm(_ high: UInt64, _ low: UInt64, _ zone: UInt32, _ port: UInt16) -> sockaddr_in6 {
    var system = sockaddr_in6()
    system.sin6_family = sa_family_t(AF_INET6)
    system.sin6_port = port.bigEndian
    system.sin6_scope_id = zone
    unsafe withUnsafeMutableBytes(of: &system.sin6_addr) {
        unsafe $0.storeBytes(of: high.bigEndian, as: UInt64.self)
        unsafe $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return system
}

/// The offset, in bytes, of the path in the system's address of the UNIX domain.
private let pathOffset = MemoryLayout<sa_family_t>.size

/// Returns the suffix for the network interface of a link-local address, such as `%eth0`. Empty if `scope` is
/// 0.
func zoneText(_ scope: UInt32) -> String {
    guard scope != 0 else { return "" }
    let name = unsafe text(Int(IF_NAMESIZE)) { name, _ in unsafe if_indextoname(scope, name) == nil ? -1 : 0 }
    return "%" + (name.isEmpty ? "\(scope)" : name)
}

/// Returns the text that `fill` writes into `capacity` bytes. Returns an empty text if `fill` does not return
/// 0.
package func text(_ capacity: Int, _ fill: (UnsafeMutablePointer<CChar>, Int) -> CInt) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
        let base = buffer.baseAddress!
        return unsafe fill(base, capacity) == 0
            ? String(systemBytes: UnsafeRawBufferPointer(start: base, count: strlen(base))) : ""
    }
}
