internal import CLibUV

/// Waits for one delivery of a signal, and closes itself. Does not keep the loop alive.
final class UVSignal: UVHandle {
    var onDelivery: () -> Void = {}

    init(_ driver: UVLoop, _ number: CInt) throws(UVError) {
        try unsafe super.init(driver, UV_SIGNAL, "signal", initialize: uv_signal_init)
        unsafe uv_unref(handle)
        let status = unsafe uv_signal_start_oneshot(
            memory(as: uv_signal_t.self),
            { handle, _ in unsafe UVSignal.from(handle!.pointee.data).isDelivered() }, number)
        if status != 0 {
            close()
            throw UVError(status, "signal", local: nil, peer: nil)
        }
    }

    override func didClose() {
        onDelivery = {}
    }

    private func isDelivered() {
        let onDelivery = onDelivery
        close()
        loop.turn { onDelivery() }
    }
}
