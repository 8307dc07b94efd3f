internal import ByteStreams
internal import Futures
internal import Glibc

/// The streams over the descriptors 0 to 2. Each stream uses a copy of its descriptor.
enum StandardStreams {
    private struct State {
        var inUse: Set<CInt> = []
        /// The descriptors with a changed mode. Each of them knows its former mode.
        var changed = FormerModes<OpenDescriptor>()
    }

    private static let state = Locked(State())
    private static let names = ["standard input", "standard output", "standard error"]

    static func open(_ number: CInt, _ limits: StreamLimits, on loop: EventLoop) throws -> DescriptorStream {
        guard state.withLock({ $0.inUse.insert(number).inserted }) else {
            throw FutureError.invalidArgument(
                "\(names[Int(number)]) is in use as a stream already; use that, or close it first")
        }
        do {
            let descriptor = try OpenDescriptor(number)
            let stream = try DescriptorStream(copying: descriptor, endsToo: true, limits: limits, on: loop)
            if stream.hasChangedMode {
                state.withLock { $0.changed.keep(descriptor, of: number) { StandardStreams.restoreModes() } }
            }
            stream.closed.whenComplete { _ in release(number) }
            return stream
        } catch {
            release(number)
            throw error
        }
    }

    private static func release(_ number: CInt) {
        let changed = state.withLock { state in
            state.inUse.remove(number)
            return state.changed.take(number)
        }
        changed?.restoreMode()
    }

    private static func restoreModes() {
        for descriptor in state.withLock({ $0.changed.all }).values { descriptor.restoreMode() }
    }
}
