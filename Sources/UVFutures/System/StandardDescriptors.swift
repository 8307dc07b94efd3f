internal import CLibUV
internal import Glibc

/// The numbers 0 to 2. libuv never closes them, and any code may write to them, so a loop must not use one.
enum StandardDescriptors {
    @inline(__always)
    private static var last: CInt { STDERR_FILENO }

    @inline(__always)
    static func include(_ descriptor: CInt) -> Bool { UInt32(bitPattern: descriptor) <= UInt32(last) }

    /// Opens `/dev/null` on those that are closed, which the loop would get otherwise.
    static func fill() throws(UVError) {
        for number in 0...last where fcntl(number, F_GETFD) < 0 {
            let nothing = unsafe open("/dev/null", O_RDWR)
            guard nothing >= 0 else { throw UVError(-errno, "open /dev/null") }
            // Another thread was quicker.
            if nothing > last { close(nothing) }
        }
    }

    /// Moves a new descriptor to another number if it has one of these. Returns a negative number, with `errno`, on
    /// failure.
    @inline(__always)
    static func leave(_ descriptor: CInt) -> CInt {
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

    /// Makes `adopt` take over the caller's descriptor. If it has one of these numbers, it gets another, and
    /// `/dev/null` takes its place. If this throws, the caller keeps the descriptor.
    static func leave<Adopted>(_ descriptor: CInt, _ adopt: (CInt) throws -> Adopted) throws -> Adopted {
        guard include(descriptor) else { return try adopt(descriptor) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, last + 1)
        guard copy >= 0 else { throw UVError(-errno, "adopt") }
        do {
            let adopted = try adopt(copy)
            if !replaceByNothing(descriptor) { close(descriptor) }
            return adopted
        } catch {
            close(copy)
            throw error
        }
    }

    /// Runs `body` so that nothing that it opens gets one of these numbers.
    static func avoid<Made, Failure: Error>(_ body: () throws(Failure) -> Made) throws(Failure) -> Made {
        var taken: [CInt] = []
        defer { for descriptor in taken { close(descriptor) } }
        repeat { taken.append(make_hang_up_set()) } while include(taken.last!)
        return try body()
    }
}
