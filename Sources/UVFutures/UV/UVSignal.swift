internal import CLibUV

/// Waits for the deliveries of a signal, or for one, after which it closes itself. Does not keep the loop alive.
final class UVSignal: UVHandle {
    var onDelivery: () -> Void = {}
    private let once: Bool
    private let number: CInt

    init(_ driver: UVLoop, _ number: CInt, once: Bool) throws(UVError) {
        self.once = once
        self.number = number
        try unsafe super.init(driver, UV_SIGNAL, "signal", initialize: uv_signal_init)
        unsafe uv_unref(handle)
        let callback: uv_signal_cb = { handle, _ in unsafe UVSignal.from(handle!.pointee.data).isDelivered() }
        let memory = unsafe memory(as: uv_signal_t.self)
        let status =
            unsafe once
            ? uv_signal_start_oneshot(memory, callback, number) : uv_signal_start(memory, callback, number)
        if status != 0 {
            close()
            throw UVError(status, "signal", local: nil, peer: nil)
        }
    }

    override var line: String { "signal \(number)" }

    override func didClose() {
        onDelivery = {}
    }

    private func isDelivered() {
        let onDelivery = onDelivery
        if once { close() }
        loop.turn { onDelivery() }
    }
}
