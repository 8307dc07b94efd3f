import Testing

@testable import SystemIO
@testable import UVFutures

struct MountTableTests {
    private let table = MountTable(
        """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        36 22 0:40 / /srv/a\\040b rw - tmpfs none rw
        37 36 8:1 /home /srv/a\\040b/home rw - ext4 /dev/sda1 rw
        a line that says nothing
        """.utf8)

    @Test("what is mounted below a directory is that alone, and names may have spaces")
    func below() {
        let srv = table.below(Array("/srv".utf8))
        #expect(srv.has(device: 40) && srv.has(device: 0x801))
        let inner = table.below(Array("/srv/a b".utf8))
        #expect(!inner.has(device: 40) && inner.has(device: 0x801))
        #expect(table.below(Array("/srv/a".utf8)) == MountTable())
        #expect(srv != inner)
    }

    @Test("what this process has mounted is in the table")
    func current() {
        #expect(MountTable.current != MountTable())
    }
}
