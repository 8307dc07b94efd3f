internal import CLibUV
internal import Glibc
internal import SystemIO

/// A watch of a signal, which does not keep the loop alive. With `once`, the watch closes itself after the
/// first delivery.
final class UVSignal: UVHandle, SignalWatch {
    var onDelivery: () -> Void = {}
    private let once: Bool
    private let number: CInt
    private var isStarted = false

    init(_ driver: UVLoop, _ number: CInt, once: Bool) throws(SystemError) {
        self.once = once
        self.number = number
        try unsafe super.init(driver, UV_SIGNAL, "signal", initialize: uv_signal_init)
        unsafe uv_unref(handle)
        let callback: uv_signal_cb = { handle, _ in unsafe UVSignal.from(handle!.pointee.data).isDelivered() }
        if number == SIGPIPE, driver.blocksBrokenPipes { BrokenPipes.unblock() }
        let signal = unsafe self.signal
        let status = SignalEffects.start(number) { isOnly in
            // With `uv_signal_start_oneshot`, the system restores the default effect at the delivery, and not
            // the former effect.
            unsafe once && isOnly
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
