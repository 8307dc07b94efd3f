import Glibc
import TestSupport
import Testing

/// Holds simulated disks against a file system of the kernel: random programs, each of which is run in a temporary
/// directory and on a virtual loop. What becomes of each step has to be the same, to the texts of errors, and all that
/// is there at the end.
///
/// The following may differ, since file systems of the kernel differ in it, too, or since it has no order:
///
/// - The sizes of directories, the space that files take on the disk, and when a file was last read.
/// - The number of links of a directory, where the file system of the kernel counts none, and the times, where it gives
///   the same one to two changes.
/// - The order of entries, and so what comes before an error.
/// - Whether a removed directory takes a file without a name.
/// - The largest size of a file. A simulation has that of ext4, and elsewhere nothing is written near it.
struct FileAgreementTests {
    @Test("a simulated disk does the same as a file system of the kernel")
    func agrees() throws {
        try withDirectory { loop, _, path in
            let places = try FilePlaces(below: path, on: loop)
            try Agreement(kind: "files", share: 70) { seed in
                FileMaker.program(seed: seed, places.traits)
            } difference: { program, _ in
                try places.difference(program)
            }.check()
        }
    }
}
