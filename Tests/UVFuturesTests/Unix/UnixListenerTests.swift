import CFuturesSystem
import CLibUV
import Futures
import Glibc
import TestSupport
import Testing
import UVFutures

struct UnixListenerTests: UsesUnixSockets {
    private func permissions(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("the file has the permissions asked for, whatever the umask", arguments: [0o000, 0o077, 0o777])
    func permissions(mask: Int) async {
        await #expect(processExitsWith: .success) { [mask] in
            umask(mode_t(mask))
            try UnixListenerTests().withDirectoryOfOwner { directory, loop in
                for permissions: UInt32 in [0o600, 0o660, 0o777] {
                    let listener = try UnixListener(
                        path: directory + "/echo", options: ListenOptions(permissions: permissions), on: loop)
                    #expect(UnixListenerTests().permissions(directory + "/echo") == permissions)
                    try loop.run(until: listener.close())
                }
                let listener = try UnixListener(path: directory + "/echo", on: loop)
                #expect(UnixListenerTests().permissions(directory + "/echo") == 0o777 & ~UInt32(mask))
                try loop.run(until: listener.close())
            }
        }
    }

    @Test(
        "without a descriptor to set permissions with, that is the error, and the path is free again",
        .enabled(if: !isSanitized), arguments: [true, false])
    func noDescriptor(listens: Bool) async {
        await #expect(processExitsWith: .success) { [listens] in
            try withLoop { loop in
                let path = try makeEmptyDirectory() + "/socket"
                func open() throws {
                    if listens {
                        let listener = try UnixListener(
                            path: path, options: ListenOptions(permissions: 0o777), on: loop)
                        try loop.run(until: listener.close())
                    } else {
                        let socket = try UnixDatagramSocket.bind(path: path, permissions: 0o777, on: loop)
                        try loop.run(until: socket.close())
                    }
                }
                // A thread of the runtime that starts meanwhile has a descriptor for a moment.
                #expect(
                    eventually {
                        do {
                            try withFreeDescriptors(1) { try open() }
                            return false
                        } catch {
                            let error = error as? SystemError
                            return error?.code == .tooManyOpenFiles && error?.operation == "permissions"
                        }
                    })
                try open()
            }
        }
    }

    private func withDirectoryOfOwner(_ body: (String, EventLoop) throws -> Void) throws {
        try withDirectory { directory, loop in
            unsafe chmod(directory, 0o700)
            try body(directory, loop)
        }
    }

    @Test(
        "permissions that make no sense are refused, and what is refused leaves no file",
        arguments: TestNetwork.allCases)
    func arguments(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            #expect(
                complaint {
                    _ = try UnixListener(path: path, options: ListenOptions(permissions: 0o1777), on: loop)
                }
                    == "permissions must be from 0o000 to 0o777, not 0o1777")
            #expect(
                complaint {
                    _ = try UnixListener(path: "@name", options: ListenOptions(permissions: 0o600), on: loop)
                }
                    == "the abstract name @name can have no permissions: everybody can connect; leave them "
                    + "out, and check peerCredentials")
            #expect(
                complaint { _ = try UnixListener(path: path, options: ListenOptions(backlog: -1), on: loop) }
                    == "a backlog of -1 is out of range; give 0 to 2147483647")
            let negative = UnixConnection.connect(path: path, timeout: .seconds(-1), on: loop)
            #expect(
                loop.failure(of: negative) as? FutureError
                    == .invalidArgument("a time limit of -1.0 seconds is negative; give zero or more"))
            let missing = loop.failure(of: UnixConnection.connect(path: path, on: loop)) as? SystemError
            #expect(missing?.code == .notFound)
            #expect("\(missing!)" == "connect ENOENT unix:\(path): no such file or directory")
        }
    }

    @Test(
        "a watch is told of the file of a socket that comes and goes",
        arguments: TestNetwork.allCases, [nil, 0o600, 0o666])
    func watched(network: TestNetwork, permissions: UInt32?) throws {
        try withDirectory(network) { directory, loop in
            let watch = try loop.run(
                until: FileWatch.watch(directory: directory, debounce: .milliseconds(20), on: loop))
            let listener = try UnixListener(
                path: directory + "/echo", options: ListenOptions(permissions: permissions), on: loop)
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created echo"])
            try loop.run(until: listener.close())
            #expect(try loop.changes(of: watch, atLeast: 1) == ["removed echo"])
            try loop.run(until: watch.close())
        }
    }
}
