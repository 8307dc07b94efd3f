/// The reason why a ``FileWatch`` could not start, or has ended by itself.
public enum FileWatchError: Error, Hashable, Sendable {
    /// There is no directory at `path`, or it has been removed.
    case removed(path: String)
    /// The watched directory, or one on the path to it, has been renamed, or the path now leads to another directory.
    case moved(path: String)
    /// The file system of the watched directory has been unmounted.
    case unmounted(path: String)
    /// The tree has more directories than `limit`, the value of ``FileWatchLimits/maxDirectories``.
    case tooManyDirectories(path: String, limit: Int)
    /// The system refused `operation`, at the start or later, for example with `ENOSPC`, `EMFILE` or
    /// ``SystemError/Code/permissionDenied``.
    case refused(path: String, operation: String, code: SystemError.Code)

    init(_ error: SystemError, path: String) {
        self =
            switch error.code {
            case .notFound where error.meansGone, .notDirectory: .removed(path: path)
            default: .refused(path: path, operation: error.operation, code: error.code)
            }
    }
}

extension FileWatchError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .removed(let path):
            "there is no directory \(path) to watch any more; make it, and watch it again"
        case .moved(let path):
            "the directory at \(path) was renamed or replaced; watch it again"
        case .unmounted(let path):
            "the file system with \(path) was unmounted; watch it again when it is mounted"
        case .tooManyDirectories(let path, let limit):
            "\(path) has more than \(limit) directories; watch a part of it, or raise FileWatchLimits.maxDirectories"
        case .refused(let path, let operation, let code):
            "\(path) cannot be watched: \(operation) \(code.name), \(code.message)\(Self.advice(operation, code))"
        }
    }

    private static func advice(_ operation: String, _ code: SystemError.Code) -> String {
        switch code {
        case .notFound: "; mount /proc, which a watch needs"
        case .inputOutput where operation == "read": "; changes may have been missed: watch it again"
        case .noSpace:
            "; the user has no watches left: raise the sysctl fs.inotify.max_user_watches, or watch less"
        case .tooManyOpenFiles:
            "; the user has no inotify instances left, or the process no descriptors: raise the sysctl "
                + "fs.inotify.max_user_instances, or the limit of open files"
        default: ""
        }
    }
}
