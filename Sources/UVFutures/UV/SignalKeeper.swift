internal import CLibUV

/// Keeps libuv from removing its handler of a signal. When libuv removes it, the signal has the default effect at once,
/// which may end the process, and the former effect can come back only later.
///
/// To libuv, a keeper is one more watch of the signal, on a loop that nobody runs. Keepers stay for ever. Not
/// thread-safe.
enum SignalKeeper {
    /// Whether the process has had a loop of a host. The host's own watches of signals need libuv to set its handler.
    /// libuv does not set it while there is a keeper.
    nonisolated(unsafe) static var hasHost = false
    nonisolated(unsafe) private static var loop: UnsafeMutablePointer<uv_loop_t>?

    /// Keeps libuv's handler of the signal, which libuv has set. Returns `false` if that is not possible.
    static func keep(_ number: CInt) -> Bool {
        if unsafe hasHost { return false }
        if unsafe loop == nil { unsafe loop = try? makeLoop() }
        guard let loop = unsafe loop else { return false }
        let signal = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
        guard unsafe uv_signal_init(loop, signal) == 0 else {
            unsafe signal.deallocate()
            return false
        }
        return unsafe uv_signal_start(signal, { _, _ in }, number) == 0
    }
}
