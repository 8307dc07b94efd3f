internal import Glibc

extension SystemError.Code {
    private init(_ errno: CInt) { self.init(rawValue: -errno) }

    /// Another socket uses the address: `EADDRINUSE`.
    public static let addressInUse = Self(EADDRINUSE)
    /// No interface of this machine has the address: `EADDRNOTAVAIL`.
    public static let addressNotAvailable = Self(EADDRNOTAVAIL)
    /// The address is of a family that does not work here, for example an IPv6 address where only IPv4 works:
    /// `EAFNOSUPPORT`.
    public static let addressFamilyNotSupported = Self(EAFNOSUPPORT)
    /// The descriptor is not open: `EBADF`.
    public static let badDescriptor = Self(EBADF)
    /// The operation was cancelled: `ECANCELED`. An error with this code counts as cancellation.
    public static let cancelled = Self(ECANCELED)
    /// The peer aborted the connection before it was accepted: `ECONNABORTED`.
    public static let connectionAborted = Self(ECONNABORTED)
    /// No process listens at the address: `ECONNREFUSED`.
    public static let connectionRefused = Self(ECONNREFUSED)
    /// The peer reset the connection: `ECONNRESET`.
    public static let connectionReset = Self(ECONNRESET)
    /// The host cannot be reached: `EHOSTUNREACH`.
    public static let hostUnreachable = Self(EHOSTUNREACH)
    /// The network cannot be reached: `ENETUNREACH`.
    public static let networkUnreachable = Self(ENETUNREACH)
    /// The name exists, but has no address: `EAI_NODATA`.
    public static let noAddress = Self(rawValue: -3_007)
    /// The name does not exist: `EAI_NONAME`.
    public static let nameNotFound = Self(rawValue: -3_008)
    /// The name servers could not be asked, or failed: `EAI_AGAIN`. A later look-up may work.
    public static let nameServerFailed = Self(rawValue: -3_001)
    /// The file does not exist: `ENOENT`.
    public static let notFound = Self(ENOENT)
    /// The operation could not be done at once: `EAGAIN`.
    public static let wouldBlock = Self(EAGAIN)
    /// The socket is not connected: `ENOTCONN`.
    public static let notConnected = Self(ENOTCONN)
    /// The descriptor is not a socket: `ENOTSOCK`.
    public static let notSocket = Self(ENOTSOCK)
    /// The system does not allow this user to do the operation: `EACCES`.
    public static let permissionDenied = Self(EACCES)
    /// The peer accepts no more data: `EPIPE`.
    public static let brokenPipe = Self(EPIPE)
    /// No answer came in time: `ETIMEDOUT`.
    public static let timedOut = Self(ETIMEDOUT)
    /// The process cannot open more descriptors: `EMFILE`.
    public static let tooManyOpenFiles = Self(EMFILE)
    /// The system does not accept an argument: `EINVAL`.
    public static let invalidArgument = Self(EINVAL)
    /// A file with this name exists already: `EEXIST`.
    public static let alreadyExists = Self(EEXIST)
    /// A component of the path is not a directory: `ENOTDIR`.
    public static let notDirectory = Self(ENOTDIR)
    /// The file is a directory: `EISDIR`.
    public static let isDirectory = Self(EISDIR)
    /// The directory is not empty: `ENOTEMPTY`.
    public static let directoryNotEmpty = Self(ENOTEMPTY)
    /// The path leads out of the directory, or to another file system: `EXDEV`.
    public static let crossesDirectory = Self(EXDEV)
    /// Something is mounted there, or the system uses it: `EBUSY`.
    public static let busy = Self(EBUSY)
    /// The path leads through too many links, or through one that must not be followed: `ELOOP`.
    public static let tooManyLinks = Self(ELOOP)
    /// The disk is full: `ENOSPC`.
    public static let noSpace = Self(ENOSPC)
    /// The disk quota of the user is used up: `EDQUOT`.
    public static let quotaExceeded = Self(EDQUOT)
    /// The file is larger than a limit: `EFBIG`.
    public static let fileTooLarge = Self(EFBIG)
    /// The disk could not be read or written: `EIO`.
    public static let inputOutput = Self(EIO)
    /// The file system cannot be written: `EROFS`.
    public static let readOnlyFileSystem = Self(EROFS)
    /// The operation is not supported: `ENOTSUP`. When a file is opened: it is not a regular file.
    public static let notSupported = Self(ENOTSUP)
    /// The operation is not permitted: `EPERM`.
    public static let notPermitted = Self(EPERM)
    /// The system does not have the call: `ENOSYS`.
    public static let notImplemented = Self(ENOSYS)
}
