/// The error of a file or directory operation that failed in the system.
///
/// To catch a certain error, write `catch let error as FileError where error.code == .notFound`.
public struct FileError: Error, Hashable, Sendable {
    /// The operation that failed, such as `open` or `replace`.
    public let operation: String
    /// The path of the file, as passed to the operation. `.` for the directory itself.
    public let path: String
    /// The path of the directory that the file is below, as it was opened.
    public let directory: String
    /// The reason.
    public let code: SystemError.Code
    /// The system call that failed, such as `fsync`.
    public let systemCall: String
    /// The number of bytes written before the failure.
    public let bytesWritten: Int
    /// The advice on what to do, or `nil`.
    private let advice: String?

    init(
        _ operation: String, _ file: FileName, _ code: SystemError.Code, _ systemCall: String,
        written: Int = 0,
        advice: String? = nil
    ) {
        self.operation = operation
        path = file.path
        directory = file.directory
        self.code = code
        self.systemCall = systemCall
        bytesWritten = written
        self.advice = advice ?? Self.advice(for: code, systemCall)
    }

    private static func advice(for code: SystemError.Code, _ systemCall: String) -> String? {
        switch code {
        case .crossesDirectory where systemCall == "openat2":
            "the path leads out of the directory, which is not allowed; give a path that stays below it"
        case .crossesDirectory:
            "the two names are on different file systems; copy the contents, and remove the old file"
        case .tooManyLinks where systemCall == "openat2":
            "a symbolic link in the path leads in a circle, or leads out of the directory by a magic link of /proc"
        case .notSupported where systemCall == "openat2":
            "it is a FIFO, a socket or a device, and only regular files are opened"
        case .wouldBlock where systemCall == "openat2":
            "the directories in the path were renamed again and again; try again"
        case _ where systemCall == "pthread_create":
            "no thread could be started for files; raise the limit of threads (TasksMax=, ulimit -u)"
        case .notImplemented where systemCall == "openat2", .notPermitted where systemCall == "openat2":
            "the system call openat2, which keeps paths inside their directory, is missing or forbidden; use "
                + "Linux 5.6 or newer, and allow openat2 in the filter of the container"
        case .notImplemented where systemCall == "chmod" || systemCall == "link":
            "/proc is not mounted, and this call needs it; mount it"
        case .busy where systemCall == "rmdir" || systemCall == "unlink":
            "something is mounted there, or the system uses it; unmount it, and repeat"
        case .noSpace: "the disk is full, or has no more inodes; make room, and repeat"
        case .quotaExceeded: "the quota of the user on this disk is used up; make room, and repeat"
        case .tooManyOpenFiles: adviceOnDescriptors
        default: nil
        }
    }
}

extension FileError: CustomStringConvertible {
    /// The error in one line, such as `open a.txt below spool: openat2 ENOENT: no such file or directory`.
    public var description: String {
        let written = bytesWritten > 0 ? "; \(bytesWritten) bytes had been written" : ""
        return
            "\(operation) \(path) below \(directory): \(systemCall) \(code.name): \(code.message)\(written)"
            + (advice.map { " (\($0))" } ?? "")
    }
}

/// The name of a file in errors: the path that the user gave, and the directory.
struct FileName: Sendable {
    let path: String
    let directory: String

    /// Calls `body`, and turns its `SystemError` into a `FileError`.
    func describing<Value>(_ operation: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as SystemError {
            throw FileError(operation, self, error.code, error.operation)
        }
    }
}
