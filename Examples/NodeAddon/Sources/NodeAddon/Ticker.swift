import CNode
import UVFutures

/// A JavaScript object that calls a function every so often, until its `stop()` is called or it is collected:
///
///     const ticker = addon.ticker(10, (count) => …)
///     await ticker.done    // how many ticks there were
///
/// Node holds it by the JavaScript object, and it holds neither that nor the function, which may well hold the object:
/// the collector cannot see a cycle that leads through Swift. So the function is a property of the object.
final class Ticker {
    private let addon: Addon
    /// Weak.
    private var object: napi_ref?
    private var ticks = 0.0
    private var task: ScheduledTask<Void>?

    static func make(_ addon: Addon, every interval: Duration, _ callback: napi_value?) throws -> napi_value?
    {
        let ticker = Ticker(addon)
        let done = ticker.start(every: interval)
        var object: napi_value?
        napi_create_object(addon.env, &object)
        napi_set_named_property(addon.env, object, "callback", callback)
        napi_set_named_property(addon.env, object, "stop", addon.function(stop))
        napi_set_named_property(addon.env, object, "done", try addon.promise(for: done, addon.value))
        try addon.check(
            napi_wrap(
                addon.env, object, Unmanaged.passRetained(ticker).toOpaque(),
                { _, data, _ in Unmanaged<Ticker>.fromOpaque(data!).takeRetainedValue().finalize() },
                nil, &ticker.object))
        return object

        func stop(_ this: napi_value?, _: [napi_value?]) throws -> napi_value? {
            var data: UnsafeMutableRawPointer?
            try addon.check(napi_unwrap(addon.env, this, &data))
            Unmanaged<Ticker>.fromOpaque(data!).takeUnretainedValue().task?.cancel()
            return nil
        }
    }

    private init(_ addon: Addon) {
        self.addon = addon
        addon.tickers += 1
    }

    deinit { addon.tickers -= 1 }

    /// Completes with the number of ticks.
    private func start(every interval: Duration) -> Future<Double> {
        let task = addon.loop.repeat(every: interval) { [unowned self] in try tick() }
        self.task = task
        return task.future.map { [self] in ticks }.recover(including: .cancellation) { [self] error in
            // It holds what was thrown, which may refer to the object: another cycle.
            self.task = nil
            guard error is CancellationError else { throw error }
            return ticks
        }
    }

    private func tick() throws {
        try addon.enter {
            var this: napi_value?
            napi_get_reference_value(addon.env, object, &this)
            // Collected, and not yet finalized.
            guard let this else { return }
            ticks += 1
            try addon.call(addon.property("callback", of: this), on: this, addon.value(ticks))
        }
    }

    /// What is only let go of goes on: the timer would tick, and the promise stay pending.
    private func finalize() {
        task?.cancel()
        napi_delete_reference(addon.env, object)
    }
}
