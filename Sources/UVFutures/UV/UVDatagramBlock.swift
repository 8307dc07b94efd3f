internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// The memory into which the datagram sockets of a loop receive, and the memory from which they send. A loop has it
/// while it has such sockets.
@safe
final class UVDatagramBlock {
    static let slots = DATAGRAM_SLOTS

    // Memory of this size comes in untouched pages, so unused parts take no space.
    private let block = UnsafeMutablePointer<datagram_block>.allocate(capacity: 1)
    private let batch = UnsafeMutablePointer<datagram_batch>.allocate(capacity: 1)
    /// The number of sockets that use the block.
    var users = 0

    deinit {
        unsafe block.deallocate()
        unsafe batch.deallocate()
    }

    // MARK: Receiving

    /// Receives up to `count` messages. Returns how many it received, or a negated `errno`.
    func receive(from descriptor: CInt, count: Int, withAddress: Bool, withNotes: Bool) -> CInt {
        unsafe receive_into(block, descriptor, CInt(min(count, Self.slots)), withAddress, withNotes)
    }

    private func message(_ index: Int) -> UnsafeMutablePointer<datagram_message> {
        unsafe UnsafeMutableRawPointer(block).assumingMemoryBound(to: datagram_message.self) + index
    }

    /// Calls `body` with each datagram of a message: one, or several that the kernel has put together. `header` holds
    /// what all datagrams of the socket have in common. Stops when `body` returns `false`.
    func forEachDatagram(
        of index: Int, _ header: DatagramHeader, withAddress: Bool, withNotes: Bool,
        _ body: (RawSpan, DatagramHeader) -> Bool
    ) {
        let message = unsafe message(index)
        var header = header
        if withAddress {
            let slot = unsafe message.pointee.header
            header.source = unsafe SocketAddress(slot.msg_name, size: Int(slot.msg_namelen))
        }
        if unsafe message.pointee.header.msg_flags & CInt(MSG_TRUNC) != 0 { header.isTruncated = true }
        var size = 0
        if withNotes {
            let notes = unsafe notes_of(&message.pointee.header)
            size = Int(notes.segment)
            notes.tell(&header)
        }
        let all = unsafe UnsafeRawBufferPointer(
            start: message.pointee.header.msg_iov.pointee.iov_base, count: Int(message.pointee.length))
        guard size > 0, size < all.count else {
            _ = unsafe body(RawSpan(_unsafeBytes: all), header)
            return
        }
        for start in stride(from: 0, to: all.count, by: size) {
            let part = unsafe UnsafeRawBufferPointer(rebasing: all[start..<min(start + size, all.count)])
            guard unsafe body(RawSpan(_unsafeBytes: part), header) else { return }
        }
    }

    // MARK: Sending

    /// Puts datagrams of a queue into the slot `index`. With `segment` above zero, the kernel cuts the bytes into
    /// datagrams of that size. `bytes` must not move before `send` is called.
    func fill(
        _ index: Int, _ bytes: UnsafeRawBufferPointer, segment: Int, to target: SocketAddress?,
        from source: SocketAddress?
    ) {
        unsafe fill_slot(batch, CInt(index), bytes.baseAddress, bytes.count, UInt16(segment))
        if let target {
            _ = unsafe target.withSocketAddress { address, size in
                unsafe set_target(batch, CInt(index), address, size)
                return 0
            }
        }
        if let source {
            _ = unsafe source.withSocketAddress { address, _ in
                unsafe set_source(batch, CInt(index), address)
                return 0
            }
        }
    }

    /// Sends the first `count` slots. Returns how many the kernel has taken, or a negated `errno` if it refuses the
    /// first.
    func send(_ count: Int, to descriptor: CInt) -> CInt { unsafe send_batch(batch, descriptor, CInt(count)) }
}

extension datagram_notes {
    fileprivate func tell(_ header: inout DatagramHeader) {
        guard family != 0 else { return }
        let port = UInt16(header.localAddress?.port ?? 0)
        header.interface = interface
        if family == AF_INET {
            let (destination, local) = (
                SocketAddress(.ipv4(UInt32(bigEndian: v4.s_addr), port: port)),
                SocketAddress(.ipv4(UInt32(bigEndian: route.s_addr), port: port))
            )
            // The addresses have the same form as the source of the datagram.
            let isMapped = header.localAddress?.isIPv6 == true
            header.destination = isMapped ? destination.mapped : destination
            header.localAddress = isMapped ? local.mapped : local
        } else {
            var system = sockaddr_in6()
            system.sin6_addr = v6
            system.sin6_port = port.bigEndian
            let isLinkLocal = unsafe withUnsafeBytes(of: v6) { unsafe $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
            if isLinkLocal { system.sin6_scope_id = interface }
            let address = SocketAddress(system)
            header.destination = address
            header.localAddress = address.isMulticast ? nil : address
        }
    }
}
