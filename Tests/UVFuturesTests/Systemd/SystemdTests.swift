import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct SystemdTests {
    private func parse(_ process: String?, _ count: String?, _ names: String? = nil) throws
        -> [ActivatedSocket]
    {
        try ActivatedSocket.parse(process: process, count: count, names: names, ownProcess: 42)
    }

    @Test("the descriptors that are passed begin at 3, and have the names that they were given")
    func sockets() throws {
        #expect(try parse(nil, nil).isEmpty)
        #expect(try parse("42", "0").isEmpty)
        #expect(try parse("42", "0", "").isEmpty)
        #expect(
            try parse("42", "2") == [
                ActivatedSocket(descriptor: 3, name: "unknown"),
                ActivatedSocket(descriptor: 4, name: "unknown"),
            ])
        #expect(
            try parse("42", "3", "http::x y") == [
                ActivatedSocket(descriptor: 3, name: "http"), ActivatedSocket(descriptor: 4, name: ""),
                ActivatedSocket(descriptor: 5, name: "x y"),
            ])
    }

    @Test(
        "variables that make no sense are refused by what they say",
        arguments: [
            (nil, "1", nil, "LISTEN_PID is not set, which is no process; the sockets are for nobody"),
            ("", "1", nil, "LISTEN_PID is \"\", which is no process; the sockets are for nobody"),
            ("-42", "1", nil, "LISTEN_PID is \"-42\", which is no process; the sockets are for nobody"),
            (
                "43", "1", nil,
                "LISTEN_PID is 43, and this process is 42: the sockets are meant for another one; start this program "
                    + "without a shell or a wrapper in between"
            ),
            ("42", nil, nil, "LISTEN_FDS is not set, which is no number of descriptors"),
            ("42", "many", nil, "LISTEN_FDS is \"many\", which is no number of descriptors"),
            ("42", "2147483647", nil, "LISTEN_FDS is \"2147483647\", which is no number of descriptors"),
            ("42", "2", "one", "LISTEN_FDNAMES has 1 names for 2 descriptors: \"one\""),
            ("42", "1", "a\nb", "LISTEN_FDNAMES has \"a\\nb\", which is no name of a descriptor"),
        ] as [(String?, String?, String?, String)])
    func refused(process: String?, count: String?, names: String?, sentence: String) {
        #expect(throws: FutureError.invalidArgument(sentence)) { try parse(process, count, names) }
    }

    @Test("whatever the variables hold, what is passed on makes sense, or one line says why not")
    func anything() throws {
        var generator = SeededGenerator()
        var taken = 0
        let valid = ["42", "3", "http:https:admin"]
        for _ in 0..<largeCount {
            let values = valid.map { mutated($0, &generator) }
            do {
                let sockets = try parse(values[0], values[1], values[2])
                taken += sockets.isEmpty ? 0 : 1
                let descriptors = Array(3..<Int32(3 + sockets.count))
                try #require(sockets.map(\.descriptor) == descriptors)
                try #require(sockets.isEmpty || Int(values[0] ?? "") == 42)
                try #require(sockets.isEmpty || Int(values[1] ?? "") == sockets.count)
                let names = sockets.map(\.name).joined(separator: ":")
                try #require(sockets.isEmpty || values[2] == nil || names == values[2])
            } catch FutureError.invalidArgument(let text) {
                try #require(text.utf8.count < 2_000 && !text.contains("\n"))
            }
        }
        // They are not all refused for their first byte.
        #expect(taken > largeCount / 100)
    }

    private func mutated(_ text: String, _ generator: inout SeededGenerator) -> String? {
        if generator.below(2) == 0 { return text }
        if generator.below(10) == 0 { return nil }
        if generator.below(10) == 0 {
            return String(decoding: generator.bytes(generator.below(40), below: 255), as: UTF8.self)
        }
        var bytes = Array(text.utf8)
        for _ in 0...generator.below(3) {
            let place = generator.below(bytes.count + 1)
            switch generator.below(3) {
            case 0 where place < bytes.count: bytes.remove(at: place)
            case 1 where place < bytes.count: bytes[place] = UInt8(generator.below(256))
            default: bytes.insert([48, 49, 58, 58, 45, 0, 255][generator.below(7)], at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

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
                loop.observe(nil)
                feeding?.cancel()
                feeding?.future.ignoreFailure()
            }
            if !isAbstract { unsafe unlink(name) }
        }
    }

    @Test("a manager that cannot be told is an error that says why")
    func refusesManager() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "@nobody-\(getpid())", 1)
            let gone = #expect(throws: UVError.self) { try Systemd.notify(.ready) }
            #expect(gone?.code == .connectionRefused)
            #expect(gone.map { "\($0)" } == "notify ECONNREFUSED: connection refused")
            let cases = [
                "relative":
                    "NOTIFY_SOCKET is \"relative\", which is neither a path from the root nor @ and a name",
                "": "NOTIFY_SOCKET is \"\", which is neither a path from the root nor @ and a name",
                "/" + String(repeating: "a", count: 107):
                    "NOTIFY_SOCKET has 108 bytes, and the system takes 107: \"/\(String(repeating: "a", count: 107))\"",
            ]
            for (name, sentence) in cases {
                unsafe setenv("NOTIFY_SOCKET", name, 1)
                #expect(throws: FutureError.invalidArgument(sentence)) { try Systemd.notify(.ready) }
            }
            for text in ["0", "-1", "soon", "99999999999999999999"] {
                unsafe setenv("WATCHDOG_USEC", text, 1)
                #expect(
                    throws: FutureError.invalidArgument(
                        "WATCHDOG_USEC is \"\(text)\", which is no number above zero")
                ) {
                    try Systemd.watchdogInterval
                }
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
