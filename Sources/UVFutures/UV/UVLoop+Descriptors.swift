internal import SystemIO

extension UVLoop: DescriptorSystem {
    var descriptors: (any DescriptorSystem)? { self }

    func checkHasNoOwner(_ descriptor: CInt) throws {
        try AdoptedDescriptors.checkHasNoOwner(descriptor, on: self)
    }

    func adopt(_ descriptor: CInt, local: SocketAddress, peer: SocketAddress) throws -> any SocketTransport {
        let stream = try AdoptedDescriptors.take(descriptor, on: self) { number -> UVStream in
            local.isUnix ? try UVPipe(self, adopting: number) : try UVTCP(self, adopting: number)
        }
        stream.isAdopted = true
        stream.localAddress = local
        stream.peerAddress = peer
        return stream
    }

    func adopt(_ descriptor: CInt, listeningOn address: SocketAddress) throws -> any ListenerSocket {
        try AdoptedDescriptors.take(descriptor, on: self) { try UVListener(self, adopting: $0, address) }
    }

    func adoptDatagrams(_ descriptor: CInt) throws -> any DatagramTransport {
        // `uv_poll_init` sets non-blocking mode.
        try AdoptedDescriptors.take(descriptor, on: self) { try UVDatagrams(self, adopting: $0) }
    }

    func openTerminal(
        _ descriptor: CInt, keepsMode: Bool
    ) throws(SystemError) -> (carrier: any TerminalCarrier, sharesMode: Bool) {
        let terminal = try UVTerminal(self, copying: descriptor)
        guard terminal.blocks, !keepsMode else { return (terminal, false) }
        terminal.close()
        return (try UVTerminal(self, sharing: descriptor), true)
    }

    func openStream(_ descriptor: CInt, as use: DescriptorUse) throws -> any StreamCarrier {
        switch use {
        case .file: return try UVFile(self, adopting: descriptor)
        case .socket: return try UVPipe(self, adopting: descriptor, .socket)
        case .sharedSocket: return try UVSharedSocket(self, adopting: descriptor)
        case .pipe(let original):
            let pipe = try UVPipe(self, adopting: descriptor, .pipe)
            pipe.original = original
            return pipe
        }
    }

    func watch(_ descriptor: CInt) throws -> any DescriptorPoll { try UVPoll.watch(descriptor, on: self) }
}
