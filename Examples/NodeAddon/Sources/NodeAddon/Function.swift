import CNode

extension Addon {
    /// `this`, and two arguments, those that were left out undefined.
    typealias Body = (_ this: napi_value?, _ arguments: [napi_value?]) throws -> napi_value?

    /// A JavaScript function that calls `body`, and holds it until it is collected.
    func function(_ body: @escaping Body) -> napi_value? {
        let data = Unmanaged.passRetained(Function(self, body)).toOpaque()
        var function: napi_value?
        napi_create_function(env, nil, 0, Function.callback, data, &function)
        napi_add_finalizer(
            env, function, data, { _, data, _ in Unmanaged<Function>.fromOpaque(data!).release() }, nil, nil)
        return function
    }
}

private final class Function {
    private let addon: Addon
    private let body: Addon.Body

    init(_ addon: Addon, _ body: @escaping Addon.Body) {
        self.addon = addon
        self.body = body
    }

    static let callback: napi_callback = { env, info in
        var (count, this, data): (Int, napi_value?, UnsafeMutableRawPointer?) = (2, nil, nil)
        var arguments = [napi_value?](repeating: nil, count: 2)
        napi_get_cb_info(env, info, &count, &arguments, &this, &data)
        let function = Unmanaged<Function>.fromOpaque(data!).takeUnretainedValue()
        do {
            return try function.body(this, arguments)
        } catch {
            napi_throw(env, function.addon.value(error))
            return nil
        }
    }
}
