import Testing

@testable import SystemIO
@testable import UVFutures

struct UnixPermissionsTests {
    @Test("the file of a socket has permissions of three digits, and an abstract name has none")
    func check() throws {
        let (path, name) = (try SocketAddress(path: "/run/x"), try SocketAddress(path: "@x"))
        try path.check(nil)
        try path.check(0o777)
        try name.check(nil)
        #expect(
            complaint { try path.check(0o1000) } == "permissions must be from 0o000 to 0o777, not 0o1000"
        )
        #expect(
            complaint { try name.check(0o600) }
                == "the abstract name @x can have no permissions: everybody can connect; leave them out, "
                + "and check peerCredentials")
    }
}
