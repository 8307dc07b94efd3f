internal import CLibUV
internal import Glibc

extension UVError {
    static func check(_ status: CInt, _ operation: String) throws(UVError) {
        if status != 0 { throw UVError(status, operation) }
    }
}

extension UVError.Code {
    /// The C name of the code, such as `ECONNREFUSED`.
    public var name: String {
        if let unknown { return unknown.name }
        return unsafe text(64) { unsafe uv_err_name_r(rawValue, $0, $1) == nil ? -1 : 0 }
    }

    /// The meaning of the code, such as `connection refused`.
    public var message: String {
        if let unknown { return unknown.message }
        return unsafe text(128) { unsafe uv_strerror_r(rawValue, $0, $1) == nil ? -1 : 0 }
    }

    /// The name and the meaning of the errors of starting a program that libuv does not know.
    private var unknown: (name: String, message: String)? {
        switch -rawValue {
        case ENOEXEC: ("ENOEXEC", "exec format error")
        case ELIBBAD: ("ELIBBAD", "the interpreter of the program is not a program")
        default: nil
        }
    }

    private init(_ code: uv_errno_t) { self.init(rawValue: code.rawValue) }

    /// Another socket uses the address: `EADDRINUSE`.
    public static let addressInUse = Self(UV_EADDRINUSE)
    /// No interface of this machine has the address: `EADDRNOTAVAIL`.
    public static let addressNotAvailable = Self(UV_EADDRNOTAVAIL)
    /// The address is of a family that does not work here, for example an IPv6 address where only IPv4 works:
    /// `EAFNOSUPPORT`.
    public static let addressFamilyNotSupported = Self(UV_EAFNOSUPPORT)
    /// The descriptor is not open: `EBADF`.
    public static let badDescriptor = Self(UV_EBADF)
    /// The operation was cancelled: `ECANCELED`. An error with this code counts as cancellation.
    public static let cancelled = Self(UV_ECANCELED)
    /// The peer aborted the connection before it was accepted: `ECONNABORTED`.
    public static let connectionAborted = Self(UV_ECONNABORTED)
    /// No process listens at the address: `ECONNREFUSED`.
    public static let connectionRefused = Self(UV_ECONNREFUSED)
    /// The peer reset the connection: `ECONNRESET`.
    public static let connectionReset = Self(UV_ECONNRESET)
    /// The host cannot be reached: `EHOSTUNREACH`.
    public static let hostUnreachable = Self(UV_EHOSTUNREACH)
    /// The network cannot be reached: `ENETUNREACH`.
    public static let networkUnreachable = Self(UV_ENETUNREACH)
    /// The name exists, but has no address: `EAI_NODATA`.
    public static let noAddress = Self(UV_EAI_NODATA)
    /// The name does not exist: `EAI_NONAME`.
    public static let nameNotFound = Self(UV_EAI_NONAME)
    /// The name servers could not be asked, or failed: `EAI_AGAIN`. A later look-up may work.
    public static let nameServerFailed = Self(UV_EAI_AGAIN)
    /// The file does not exist: `ENOENT`.
    public static let notFound = Self(UV_ENOENT)
    /// The operation could not be done at once: `EAGAIN`.
    public static let wouldBlock = Self(UV_EAGAIN)
    /// The socket is not connected: `ENOTCONN`.
    public static let notConnected = Self(UV_ENOTCONN)
    /// The descriptor is not a socket: `ENOTSOCK`.
    public static let notSocket = Self(UV_ENOTSOCK)
    /// The system does not allow this user to do the operation: `EACCES`.
    public static let permissionDenied = Self(UV_EACCES)
    /// The peer accepts no more data: `EPIPE`.
    public static let brokenPipe = Self(UV_EPIPE)
    /// No answer came in time: `ETIMEDOUT`.
    public static let timedOut = Self(UV_ETIMEDOUT)
    /// The process cannot open more descriptors: `EMFILE`.
    public static let tooManyOpenFiles = Self(UV_EMFILE)
    /// The system does not accept an argument: `EINVAL`.
    public static let invalidArgument = Self(UV_EINVAL)
    /// There is a file of this name already: `EEXIST`.
    public static let alreadyExists = Self(UV_EEXIST)
    /// A component of the path is not a directory: `ENOTDIR`.
    public static let notDirectory = Self(UV_ENOTDIR)
    /// The file is a directory: `EISDIR`.
    public static let isDirectory = Self(UV_EISDIR)
    /// The directory is not empty: `ENOTEMPTY`.
    public static let directoryNotEmpty = Self(UV_ENOTEMPTY)
    /// The path leads out of the directory, or to another file system: `EXDEV`.
    public static let crossesDirectory = Self(UV_EXDEV)
    /// Something is mounted there, or the system uses it: `EBUSY`.
    public static let busy = Self(UV_EBUSY)
    /// The path leads through too many links, or through one that must not be followed: `ELOOP`.
    public static let tooManyLinks = Self(UV_ELOOP)
    /// The disk is full: `ENOSPC`.
    public static let noSpace = Self(UV_ENOSPC)
    /// The user has no more room on the disk: `EDQUOT`.
    public static let quotaExceeded = Self(rawValue: -122)
    /// The file is larger than a limit: `EFBIG`.
    public static let fileTooLarge = Self(UV_EFBIG)
    /// The disk could not be read or written: `EIO`.
    public static let inputOutput = Self(UV_EIO)
    /// The file system cannot be written: `EROFS`.
    public static let readOnlyFileSystem = Self(UV_EROFS)
    /// The operation is not supported: `ENOTSUP`. When a file is opened: it is no regular file.
    public static let notSupported = Self(UV_ENOTSUP)
    /// The operation is not permitted: `EPERM`.
    public static let notPermitted = Self(UV_EPERM)
    /// The system does not have the call: `ENOSYS`.
    public static let notImplemented = Self(UV_ENOSYS)
}
