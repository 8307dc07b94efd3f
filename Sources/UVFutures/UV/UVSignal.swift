internal import CLibUV
internal import Glibc

/// Waits for the deliveries of a signal, or for one and then closes itself. Does not keep the loop alive.
final class UVSignal: UVHandle {
    var onDelivery: () -> Void = {}
    private let once: Bool
    private let number: CInt
    private var isStarted = false

    init(_ driver: UVLoop, _ number: CInt, once: Bool) throws(UVError) {
        self.once = once
        self.number = number
        try unsafe super.init(driver, UV_SIGNAL, "signal", initialize: uv_signal_init)
        unsafe uv_unref(handle)
        let callback: uv_signal_cb = { handle, _ in unsafe UVSignal.from(handle!.pointee.data).isDelivered() }
        if number == SIGPIPE, driver.blocksBrokenPipes { BrokenPipes.unblock() }
        let signal = unsafe self.signal
        let status = SignalEffects.start(number) { hadEffect in
            // By the one delivery the system would give it the default effect at once.
            unsafe once && !hadEffect
                ? uv_signal_start_oneshot(signal, callback, number)
                : uv_signal_start(signal, callback, number)
        }
        isStarted = status == 0
        try closeUnlessDone(status, "signal")
    }

    private var signal: UnsafeMutablePointer<uv_signal_t> { unsafe memory(as: uv_signal_t.self) }

    override func willClose() {
        if isStarted { SignalEffects.stop(number) { unsafe uv_signal_stop(signal) } }
    }

    override var line: String { "signal \(number)" }

    override func didClose() { onDelivery = {} }

    private func isDelivered() {
        let onDelivery = onDelivery
        if once { close() }
        loop.turn { onDelivery() }
    }
}
