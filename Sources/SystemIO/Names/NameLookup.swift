internal import CFuturesSystem
internal import Glibc

extension LookupThreads {
    /// Asks the system for the addresses of a name, in its order of preference. Has no time limit.
    static let askSystem: @Sendable (String) -> Answer = { name in
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        // Without this, the system returns each address once for each kind of socket.
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else {
            let code = SystemError.Code(lookup: status, systemError: errno)
            return .failure(ResolutionError(name: name, code: code))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = unsafe list
        while let current = unsafe entry {
            let address = unsafe SocketAddress(
                current.pointee.ai_addr, size: Int(current.pointee.ai_addrlen))
            if let address, !addresses.contains(address) { addresses.append(address) }
            unsafe entry = current.pointee.ai_next
        }
        return .success(addresses)
    }
}

extension SystemError.Code {
    /// Translates a code of `getaddrinfo`.
    fileprivate init(lookup status: CInt, systemError: CInt) {
        switch status {
        case EAI_AGAIN: self = .nameServerFailed
        case EAI_MEMORY: self.init(rawValue: -ENOMEM)
        case EAI_NONAME: self = .nameNotFound
        case EAI_SYSTEM: self.init(rawValue: -systemError)
        // EAI_NODATA and EAI_ADDRFAMILY, which are GNU extensions.
        case -5, -9: self = .noAddress
        default: self.init(rawValue: -3_004)
        }
    }
}
