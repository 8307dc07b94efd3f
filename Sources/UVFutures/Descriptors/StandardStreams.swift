internal import ByteStreams
internal import Futures
internal import Glibc

/// Descriptors 0 to 2 as streams, which work on copies of them.
enum StandardStreams {
    private struct State {
        var inUse: [Bool] = [false, false, false]
        /// The descriptors with a changed mode.
        var changed: [CInt: OpenDescriptor] = [:]
        /// The value of `ForkWatch.count` when the end of the process was first to be noticed.
        var registered: Int?
    }

    private static let state = Locked(State())
    private static let names = ["standard input", "standard output", "standard error"]

    static func open(_ number: CInt, _ limits: StreamLimits, on loop: EventLoop) throws -> DescriptorStream {
        let isFree = state.withLock { state in
            defer { state.inUse[Int(number)] = true }
            return !state.inUse[Int(number)]
        }
        guard isFree else {
            throw FutureError.invalidArgument(
                "\(names[Int(number)]) is in use as a stream already; use that, or close it first")
        }
        do {
            let descriptor = try OpenDescriptor(number)
            let stream = try DescriptorStream(copying: descriptor, endsToo: true, limits: limits, on: loop)
            if stream.hasChangedMode { restoreAtExit(descriptor) }
            stream.closed.whenComplete { _ in release(number) }
            return stream
        } catch {
            release(number)
            throw error
        }
    }

    private static func release(_ number: CInt) {
        let changed = state.withLock { state in
            state.inUse[Int(number)] = false
            return state.changed.removeValue(forKey: number)
        }
        changed?.restoreMode()
    }

    private static func processEnds() {
        // They are the parent's, too, of a child that came out of a fork.
        guard state.withLock({ $0.registered == ForkWatch.count }) else { return }
        for number: CInt in 0...2 { release(number) }
    }

    private static func restoreAtExit(_ descriptor: OpenDescriptor) {
        state.withLock { state in
            state.changed[descriptor.number] = descriptor
            guard state.registered != ForkWatch.count else { return }
            state.registered = ForkWatch.start()
            state.changed = [descriptor.number: descriptor]
            atexit { StandardStreams.processEnds() }
        }
    }
}
