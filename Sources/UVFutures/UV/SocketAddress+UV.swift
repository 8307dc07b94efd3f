internal import CLibUV
internal import Glibc

extension SocketAddress {
    /// The address that `fill` writes, or `nil` if it fails or the address is of another family.
    init?(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<CInt>) -> CInt) {
        var storage = sockaddr_storage()
        var length = CInt(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe fill($0, &length) }
        }
        guard status == 0 else { return nil }
        self.init(storage)
    }

    private init?(_ storage: sockaddr_storage) {
        var storage = storage
        let host: String
        let port: in_port_t
        switch CInt(storage.ss_family) {
        case AF_INET:
            (host, port) = unsafe withUnsafeBytes(of: &storage) { bytes in
                var address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                return unsafe (text(16) { unsafe uv_ip4_name(&address, $0, $1) }, address.sin_port)
            }
        case AF_INET6:
            (host, port) = unsafe withUnsafeBytes(of: &storage) { bytes in
                var address = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
                let name = unsafe text(46) { unsafe uv_ip6_name(&address, $0, $1) }
                return (name + zone(address.sin6_scope_id), address.sin6_port)
            }
        default: return nil
        }
        self.init(canonicalHost: host, port: UInt16(bigEndian: port))
    }

    /// The address that `host` spells in numbers, or `nil` if it does not.
    init?(numericHost host: String, port: UInt16) {
        // A name that ends early would be another one.
        guard !host.utf8.contains(0) else { return nil }
        var storage = sockaddr_storage()
        let isNumeric = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            return unsafe uv_ip4_addr(host, CInt(port), raw.assumingMemoryBound(to: sockaddr_in.self)) == 0
                || uv_ip6_addr(host, CInt(port), raw.assumingMemoryBound(to: sockaddr_in6.self)) == 0
        }
        guard isNumeric else { return nil }
        self.init(storage)
    }

    func withSocketAddress(_ body: (UnsafePointer<sockaddr>) -> CInt) -> CInt {
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            if isIPv6 {
                unsafe uv_ip6_addr(host, CInt(port), raw.assumingMemoryBound(to: sockaddr_in6.self))
            } else {
                unsafe uv_ip4_addr(host, CInt(port), raw.assumingMemoryBound(to: sockaddr_in.self))
            }
            return unsafe body(raw.assumingMemoryBound(to: sockaddr.self))
        }
    }
}

/// The interface that a link-local address belongs to, as a suffix.
private func zone(_ scope: UInt32) -> String {
    guard scope != 0 else { return "" }
    let name = unsafe text(Int(IF_NAMESIZE)) { name, _ in unsafe if_indextoname(scope, name) == nil ? -1 : 0 }
    return "%" + (name.isEmpty ? "\(scope)" : name)
}

/// The text that `fill` writes into as many bytes; empty if it fails.
func text(_ capacity: Int, _ fill: (UnsafeMutablePointer<CChar>, Int) -> CInt) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
        let base = buffer.baseAddress!
        return unsafe fill(base, capacity) == 0 ? String(cString: base) : ""
    }
}
