import Glibc
import Testing
import UVFutures

struct UserTests {
    @Test("a user is looked up with its groups")
    func lookup() throws {
        let root = try ChildProcess.User(named: "root")
        #expect(root.id == 0 && root.group == 0 && root.supplementaryGroups.contains(0))
        #expect(
            complaint { _ = try ChildProcess.User(named: "no such user") }
                == "there is no user no such user; give the name of a user that exists")
        #expect(
            complaint { _ = try ChildProcess.User(named: "root\0evil") }
                == "the name \"root\\0evil\" of a user contains a NUL, which would cut it off; leave it out"
        )
    }
}
