import Testing

@testable import SystemIO
@testable import UVFutures

struct FileWatchErrorTests {
    @Test("each reason says what happened, where, and what to do")
    func sentences() {
        func refused(_ code: CInt) -> String {
            let code = SystemError.Code(rawValue: code)
            return "\(FileWatchError.refused(path: "/srv", operation: "inotify_add_watch", code: code))"
        }
        #expect(
            "\(FileWatchError.removed(path: "/srv"))"
                == "there is no directory /srv to watch any more; make it, and watch it again")
        #expect(
            "\(FileWatchError.moved(path: "/srv"))"
                == "the directory at /srv was renamed or replaced; watch it again")
        #expect(
            "\(FileWatchError.unmounted(path: "/srv"))"
                == "the file system with /srv was unmounted; watch it again when it is mounted")
        #expect(
            refused(-28)
                == "/srv cannot be watched: inotify_add_watch ENOSPC, no space left on device; the user has no "
                + "watches left: raise the sysctl fs.inotify.max_user_watches, or watch less")
        #expect(
            refused(-24)
                == "/srv cannot be watched: inotify_add_watch EMFILE, too many open files; the user has no "
                + "inotify instances left, or the process no descriptors: raise the sysctl "
                + "fs.inotify.max_user_instances, or the limit of open files")
        #expect(refused(-13) == "/srv cannot be watched: inotify_add_watch EACCES, permission denied")
    }

    @Test("what is gone is told as removed, and a system without /proc is not")
    func reasons() {
        for code in [.notFound, .notDirectory] as [SystemError.Code] {
            #expect(FileWatchError(SystemError(code, "open"), path: "/srv") == .removed(path: "/srv"))
        }
        #expect(
            FileWatchError(SystemError(.permissionDenied, "open"), path: "/srv")
                == .refused(path: "/srv", operation: "open", code: .permissionDenied))
        let text = "\(FileWatchError(.missingDescriptors, path: "/srv"))"
        #expect(text.hasSuffix("; mount /proc, which a watch needs"))
    }
}
