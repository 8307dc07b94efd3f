import Testing

@testable import SystemIO
@testable import UVFutures

struct MountTableTests {
    private let table = MountTable(
        """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        36 22 0:40 / /srv/a\\040b rw - tmpfs none rw
        37 36 8:1 /home /srv/a\\040b/home rw - ext4 /dev/sda1 rw
        38 22 4097:300 / /srv/tab\\011 rw - tmpfs none rw
        39 22 0:50 / /srv/short
        40 22 0:51 /
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

    @Test("a device has the number that the system gives it, and a line without options counts")
    func devices() {
        #expect(table.has(device: 0x1000_0010_012C) && table.has(device: 50))
        #expect(!table.has(device: 51) && !table.has(device: 0))
    }

    @Test("whether something is mounted at a name is found by the whole path")
    func names() {
        func has(_ path: String, _ name: String) -> Bool {
            table.has(path: Array(path.utf8), RelativePath(bytes: Array(name.utf8)))
        }
        #expect(has("/srv", "a b") && has("/srv/a b", "home") && has("/", "srv/a b") && has("/srv", "tab\t"))
        #expect(!has("/srv", "a") && !has("/srv", "home") && !has("/", "a b"))
    }

    @Test("what this process has mounted is in the table")
    func current() {
        #expect(MountTable.current != MountTable())
    }
}
