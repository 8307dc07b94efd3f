import Testing

@testable import SystemIO
@testable import UVFutures

struct FileErrorTests {
    @Test("an error says what happened, on what, and what to do")
    func texts() {
        let name = FileName(path: "a", directory: "spool")
        func text(_ code: SystemError.Code, _ call: String, written: Int = 0) -> String {
            "\(FileError("open", name, code, call, written: written))"
        }
        #expect(text(.notFound, "openat2") == "open a below spool: openat2 ENOENT: no such file or directory")
        #expect(
            text(.quotaExceeded, "write", written: 12)
                == "open a below spool: write EDQUOT: disk quota exceeded; 12 bytes had been written (the quota of the "
                + "user on this disk is used up; make room, and repeat)")
        #expect(
            text(.tooManyOpenFiles, "openat2").hasSuffix(
                "(Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes.)"))
        #expect(
            text(.notImplemented, "openat2").hasSuffix(
                "(the system call openat2, which keeps paths inside their directory, is missing or "
                    + "forbidden; use Linux 5.6 or newer, and allow openat2 in the filter of the container)"))
        #expect(
            text(.wouldBlock, "openat2").hasSuffix(
                "(the directories in the path were renamed again and again; try again)"))
        #expect(
            text(.inputOutput, "write", written: 1)
                == "open a below spool: write EIO: i/o error; 1 bytes had been written")
        #expect(text(.inputOutput, "fsync") == "open a below spool: fsync EIO: i/o error")
    }

    @Test("errors of trees name the limit")
    func trees() {
        #expect(
            "\(TreeError.tooManyEntries(limit: 3))"
                == "the tree has more than 3 entries; give a higher maxEntries, or walk its parts")
    }
}
