import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// Descriptors 0 to 2, and what becomes of a loop where they are closed.
struct StandardDescriptorsTests {
    @Test(
        "a loop of its own opens /dev/null where a standard stream is closed", arguments: [0, 1, 2] as [CInt])
    func closedBefore(number: CInt) async {
        await #expect(processExitsWith: .success) { [number] in
            // Only in a child has nothing else a thread that could open something.
            let status = inChild {
                unblock(SIGTERM)
                close(number)
                let loop = try EventLoop()
                // Programs that are started from here have it too.
                guard isNothing(number), fcntl(number, F_GETFD) == 0 else { return 1 }
                let signal = loop.signal(.terminate)
                loop.execute { kill(getpid(), SIGTERM) }
                _ = loop.sleep(for: .seconds(10))
                try loop.run(until: signal)
                loop.shutdown()
                return isNothing(number) ? 0 : 2
            }
            #expect(status == 0)
        }
    }

    @Test("nothing of a loop has the number of a standard stream that was closed later")
    func closedLater() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            for number: CInt in [0, 1] { close(number) }
            try useEverything(on: loop)
            #expect(!isOpen(0) && !isOpen(1))
            loop.shutdown()
        }
    }

    @Test("an attached loop leaves the standard streams alone, and uses none of their numbers")
    func attached() async {
        await #expect(processExitsWith: .success) {
            try withHost { host, loop in
                for number: CInt in [0, 1] { close(number) }
                let connections = try pair(on: loop) { try host.run(until: $0) }
                #expect(!isOpen(0) && !isOpen(1))
                for connection in connections { connection.abort() }
            }
            #expect(!isOpen(0) && !isOpen(1))
        }
    }

    @Test("what is adopted by the number of a standard stream gets another, and /dev/null its place")
    func adopted() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let name = "@uvfutures-\(getpid())-standard"
                let listening = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let address = listening.localAddress
                put(try listening.release(), at: 0)
                put(try UnixListener(path: name, on: loop).release(), at: 1)
                let (tcp, unix) = (
                    try TCPListener(adopting: 0, on: loop), try UnixListener(adopting: 1, on: loop)
                )
                #expect(isNothing(0) && isNothing(1))

                let ends: [SocketConnection] = [
                    try loop.connect(to: address),
                    try loop.run(until: UnixConnection.connect(path: name, on: loop)),
                ]
                let others: [SocketConnection] = [
                    try loop.run(until: tcp.accept()), try loop.run(until: unix.accept()),
                ]
                put(try ends[0].release(), at: 0)
                put(try ends[1].release(), at: 1)
                let adopted: [SocketConnection] = [
                    try TCPConnection(adopting: 0, on: loop),
                    try UnixConnection(adopting: 1, on: loop),
                ]
                #expect(isNothing(0) && isNothing(1))
                for (connection, other) in zip(adopted, others) {
                    connection.write("hello")
                    connection.close()
                    #expect(try loop.run(until: other.readToEnd()) == Data("hello".utf8))
                    try loop.run(until: other.close())
                }
                tcp.close()
                unix.close()
            }
        }
    }

    @Test("a standard stream that is adopted leaves /dev/null behind, though standard input is closed")
    func adoptedWithoutInput() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                put(try TCPListener(host: "127.0.0.1", port: 0, on: loop).release(), at: 1)
                // What is opened next gets this number.
                close(0)
                let listener = try TCPListener(adopting: 1, on: loop)
                #expect(isNothing(1) && !isOpen(0))
                listener.close()
            }
        }
    }

    @Test("a standard stream that is adopted gets no number of another one that is closed")
    func adoptedWithoutOutput() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                put(try TCPListener(host: "127.0.0.1", port: 0, on: loop).release(), at: 0)
                close(1)
                let listener = try TCPListener(adopting: 0, on: loop)
                #expect(isNothing(0) && !isOpen(1))
                listener.close()
            }
        }
    }

    @Test("a standard stream that is adopted with the last descriptor is closed: none is left for /dev/null")
    func adoptedWithLastDescriptor() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                put(try TCPListener(host: "127.0.0.1", port: 0, on: loop).release(), at: 0)
                let first = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                try loop.run(until: first.close())
                try withFreeDescriptors(1) {
                    let listener = try TCPListener(adopting: 0, on: loop)
                    #expect(!isOpen(0))
                    listener.close()
                }
            }
        }
    }

    @Test("a standard stream that cannot be adopted stays as it is")
    func refused() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let socket = PlainSocket.bound()
                dup2(socket.descriptor, 0)
                #expect(throws: FutureError.self) { try TCPConnection(adopting: 0, on: loop) }
                #expect(throws: FutureError.self) { try TCPListener(adopting: 0, on: loop) }
                #expect(isOpen(0) && !isNothing(0))
            }
        }
    }
}

/// Opens and closes one of each, and proves that none has the number of a standard stream, and none is left.
private func useEverything(on loop: EventLoop) throws {
    // What all connections share, and the pool, stays.
    try useOnce(on: loop)
    let before = openDescriptors()
    try useOnce(on: loop)
    #expect(openDescriptors().isSubset(of: before))
}

private func useOnce(on loop: EventLoop) throws {
    let before = openDescriptors()
    func expectFree() { #expect(openDescriptors().subtracting(before).allSatisfy { $0 > 2 }) }

    let connections = try pair(on: loop) { try loop.run(until: $0) }
    expectFree()
    for connection in connections {
        connection.write("hello")
        connection.shutdownWrite()
    }
    for connection in connections {
        #expect(try loop.run(until: connection.readToEnd()) == Data("hello".utf8))
        try loop.run(until: connection.close())
    }
    let directory = try loop.run(until: Directory.open("/proc/self", on: loop))
    let comm = try loop.run(until: directory.open("comm"))
    expectFree()
    #expect(try !loop.run(until: comm.readAll()).isEmpty)
    try loop.run(until: comm.close().and(directory.close()).map { _ in })
    let (reading, writing) = try loop.makePipe()
    let zero = unsafe open("/dev/zero", O_RDWR)
    let file = try DescriptorStream(adopting: fcntl(zero, F_DUPFD, 3), on: loop)
    close(zero)
    expectFree()
    for stream in [reading, writing, file] { try loop.run(until: stream.close()) }

    try withTerminal { person, program in
        let (mine, other) = (fcntl(person, F_DUPFD, 3), fcntl(program, F_DUPFD, 3))
        for number in [person, program] where number <= 2 { close(number) }
        let terminal = try DescriptorStream(adopting: other, on: loop)
        expectFree()
        try loop.run(until: terminal.close())
        if program > 2 { close(program) }
        close(mine)
    }
}

/// Both ends of a connection by TCP, and of one of the UNIX domain.
private func pair(
    on loop: EventLoop,
    _ run: (Future<(SocketConnection, SocketConnection)>) throws -> (SocketConnection, SocketConnection)
) throws -> [SocketConnection] {
    let name = "@uvfutures-\(getpid())-pair"
    let tcp = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
    let unix = try UnixListener(path: name, on: loop)
    let port = tcp.localAddress.port
    let first = try run(
        TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).and(tcp.accept()).map { ($0, $1) })
    let second = try run(UnixConnection.connect(path: name, on: loop).and(unix.accept()).map { ($0, $1) })
    tcp.close()
    unix.close()
    return [first.0, first.1, second.0, second.1]
}

private func put(_ descriptor: CInt, at number: CInt) {
    dup2(descriptor, number)
    close(descriptor)
}

/// Whether it stands for `/dev/null`.
private func isNothing(_ descriptor: CInt) -> Bool {
    var (status, nothing) = (stat(), stat())
    return unsafe fstat(descriptor, &status) == 0 && stat("/dev/null", &nothing) == 0
        && status.st_rdev == nothing.st_rdev && status.st_mode & S_IFMT == S_IFCHR
}
