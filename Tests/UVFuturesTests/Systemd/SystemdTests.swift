import FuturesTesting
import Glibc
import Testing
import UVFutures

struct SystemdTests {
    @Test("the sockets are taken once, and the programs that are started know nothing of them")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let made = PlainSocket.bound(backlog: 4)
            // The place may be taken by what the tests hold open.
            #expect(dup2(made.descriptor, 3) == 3)
            unsafe setenv("LISTEN_PID", "\(getpid())", 1)
            unsafe setenv("LISTEN_FDS", "1", 1)
            unsafe setenv("LISTEN_FDNAMES", "echo", 1)
            let sockets = try Systemd.sockets()
            #expect(sockets == [ActivatedSocket(descriptor: 3, name: "echo")])
            #expect(fcntl(3, F_GETFD) & FD_CLOEXEC != 0)
            for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { #expect(unsafe getenv(name) == nil) }
            #expect(try Systemd.sockets().isEmpty)

            unsafe setenv("LISTEN_PID", "1", 1)
            unsafe setenv("LISTEN_FDS", "1", 1)
            #expect(throws: FutureError.self) { try Systemd.sockets() }
        }
    }

    @Test("the manager hears what it is told, at a path or an abstract name", arguments: [true, false])
    func notifies(isAbstract: Bool) async {
        await #expect(processExitsWith: .success) { [isAbstract] in
            let name = (isAbstract ? "@" : "/tmp/") + "uv-notify-\(getpid())"
            let manager = PlainSocket.manager(at: name)
            #expect(try !Systemd.notify(.ready))
            unsafe setenv("NOTIFY_SOCKET", name, 1)
            #expect(try Systemd.notify(.ready, .status("2 clients")))
            #expect(manager.receive() == Array("READY=1\nSTATUS=2 clients".utf8))
            #expect(try Systemd.notify(.stopping))
            #expect(manager.receive() == Array("STOPPING=1".utf8))

            let sentence = "the status \"a\\nREADY=1\" holds a control character; give one line of text"
            #expect(throws: FutureError.invalidArgument(sentence)) {
                try Systemd.notify(.status("a\nREADY=1"))
            }
            #expect(manager.receive() == nil)

            try withLoop { loop in
                #expect(try Systemd.feedWatchdog(on: loop) == nil)
                unsafe setenv("WATCHDOG_USEC", "20000", 1)
                unsafe setenv("WATCHDOG_PID", "1", 1)
                #expect(try Systemd.watchdogInterval == nil)
                unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
                #expect(try Systemd.watchdogInterval == .milliseconds(20))
                let feeding = try Systemd.feedWatchdog(on: loop)
                for _ in 0..<3 {
                    var message: [UInt8]?
                    try loop.runUntil {
                        message = manager.receive()
                        return message != nil
                    }
                    #expect(message == Array("WATCHDOG=1".utf8))
                }
                try loop.run()
                let told = Told(by: loop)
                unsafe setenv("NOTIFY_SOCKET", "@nobody-\(getpid())", 1)
                try loop.runUntil { !told.warnings.isEmpty }
                try loop.run(for: .milliseconds(30))
                #expect(
                    told.warnings == [
                        "the watchdog of systemd could not be fed: notify ECONNREFUSED: connection refused"
                    ])
                unsafe setenv("NOTIFY_SOCKET", name, 1)
                try loop.runUntil { manager.receive() == Array("WATCHDOG=1".utf8) }
                feeding?.cancel()
                feeding?.future.ignoreFailure()
            }
            if !isAbstract { unsafe unlink(name) }
        }
    }
}

extension SystemdTests {
    @Test("the watchdog is fed twice in its interval")
    func pace() async {
        await #expect(processExitsWith: .success) {
            let name = "@uv-notify-\(getpid())"
            let manager = PlainSocket.manager(at: name)
            unsafe setenv("NOTIFY_SOCKET", name, 1)
            unsafe setenv("WATCHDOG_USEC", "20000000", 1)
            try withLoop(.virtual) { loop in
                let feeding = try #require(try Systemd.feedWatchdog(on: loop))
                for _ in 0..<2 {
                    loop.advance(by: .nanoseconds(9_999_999_999))
                    #expect(manager.receive() == nil)
                    loop.advance(by: .nanoseconds(1))
                    #expect(manager.receive() == Array("WATCHDOG=1".utf8))
                }
                feeding.cancel()
                feeding.future.ignoreFailure()
            }
        }
    }
}

extension PlainSocket {
    /// Where a manager of services listens.
    fileprivate static func manager(at name: String) -> PlainSocket {
        let socket = unnamedMessages()
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let status = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket.descriptor, $0, length)
            }
        }
        precondition(status == 0)
        return socket
    }
}
