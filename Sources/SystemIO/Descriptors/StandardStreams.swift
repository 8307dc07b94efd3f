internal import ByteStreams
internal import Futures

/// The streams over the descriptors 0 to 2. Each stream uses a copy of its descriptor.
enum StandardStreams {
    private struct State {
        var inUse: Set<CInt> = []
        /// The descriptors with a changed mode. Each of them knows its former mode.
        var changed = FormerModes<OpenDescriptor>()
    }

    private static let state = Locked(State())

    static func open(_ number: CInt, _ limits: StreamLimits, on loop: EventLoop) throws -> DescriptorStream {
        try loop.core.checkRuns()
        try limits.validate()
        if let end = try loop.system.openStandardPipe(number) {
            return DescriptorStream(over: end, sides: number > 0 ? .write : .read, limits, on: loop)
        }
        guard state.withLock({ $0.inUse.insert(number).inserted }) else {
            throw StandardDescriptors.inUse(number)
        }
        do {
            let descriptor = try OpenDescriptor(number)
            let stream = try DescriptorStream(
                copying: descriptor, endsToo: true, keepsMode: true, limits: limits, on: loop)
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
