internal import CFuturesSystem
package import Futures
internal import Glibc

/// The descriptors 0 to 2. libuv never closes them, and any code may write to them. So a loop must not use
/// these numbers.
package enum StandardDescriptors {
    /// The name of a standard stream in errors.
    package static func name(_ number: CInt) -> String {
        ["standard input", "standard output", "standard error"][Int(number)]
    }

    /// The error of a second stream over a standard stream.
    package static func inUse(_ number: CInt) -> FutureError {
        .invalidArgument("\(name(number)) is in use as a stream already; use that, or close it first")
    }

    @inline(__always)
    private static var last: CInt { STDERR_FILENO }

    @inline(__always)
    package static func include(_ descriptor: CInt) -> Bool { UInt32(bitPattern: descriptor) <= UInt32(last) }

    /// Opens `/dev/null` on each of these descriptors that is closed. Otherwise, a descriptor of the loop
    /// would get that number. Throws `SystemError` if that fails.
    package static func fill() throws(SystemError) {
        for number in 0...last where fcntl(number, F_GETFD) < 0 {
            let nothing = unsafe open("/dev/null", O_RDWR)
            guard nothing >= 0 else { throw SystemError(-errno, "open /dev/null") }
            // Another thread has taken the number in the meantime.
            if nothing > last { close(nothing) }
        }
    }

    /// Moves a new descriptor to another number if it is 0, 1 or 2. Returns the number. On failure, returns a
    /// negative number and sets `errno`.
    @inline(__always)
    package static func leave(_ descriptor: CInt) -> CInt {
        include(descriptor) ? moved(descriptor) : descriptor
    }

    @inline(never)
    private static func moved(_ descriptor: CInt) -> CInt {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, last + 1)
        let error = errno
        close(descriptor)
        errno = error
        return copy
    }

    /// Calls `adopt`, which takes over the caller's descriptor. If the descriptor is 0, 1 or 2, `adopt` gets
    /// a copy with another number, and `/dev/null` replaces the descriptor. If this throws, the caller keeps
    /// the descriptor.
    package static func leave<Adopted>(_ descriptor: CInt, _ adopt: (CInt) throws -> Adopted) throws
        -> Adopted
    {
        guard include(descriptor) else { return try adopt(descriptor) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, last + 1)
        guard copy >= 0 else { throw SystemError(-errno, "adopt") }
        do {
            let adopted = try adopt(copy)
            if !replaceByNothing(descriptor) { close(descriptor) }
            return adopted
        } catch {
            close(copy)
            throw error
        }
    }

    /// Runs `body`. No descriptor that `body` opens gets the number 0, 1 or 2.
    package static func avoid<Made, Failure: Error>(_ body: () throws(Failure) -> Made) throws(Failure)
        -> Made
    {
        var taken: [CInt] = []
        defer { for descriptor in taken { close(descriptor) } }
        repeat { taken.append(make_hang_up_set()) } while include(taken.last!)
        return try body()
    }
}

/// Makes the descriptor refer to `/dev/null`. Returns `false` if that fails.
@discardableResult
package func replaceByNothing(_ descriptor: CInt) -> Bool {
    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard nothing >= 0 else { return false }
    defer { close(nothing) }
    let flags = fcntl(descriptor, F_GETFD)
    guard dup2(nothing, descriptor) >= 0 else { return false }
    _ = fcntl(descriptor, F_SETFD, flags)
    return true
}
