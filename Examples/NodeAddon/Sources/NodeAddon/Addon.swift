import CNode
import UVFutures

/// What one environment of Node's has: its main thread and each of its workers has one, with a loop of its own.
final class Addon {
    let env: napi_env
    let loop: EventLoop
    private var context: napi_async_context?
    private var isEnding = false
    var server: TCPServer?
    var datagrams: UDPSocket?
    var watch: FileWatch?
    /// How many there are.
    var tickers = 0
    /// Of the chain without end.
    var steps = 0

    private init(_ env: napi_env) throws {
        self.env = env
        // Node's own libuv, which it exports: it must be the one that this library calls.
        let version = unsafeBitCast(
            dlsym(nil, "uv_version_string"), to: (@convention(c) () -> UnsafePointer<CChar>?).self)
        loop = try EventLoop(attachingTo: uv_loop_of(env)!, hostVersion: version)
        napi_async_init(env, nil, string("swift"), &context)
    }

    static func attach(_ env: napi_env, _ exports: napi_value) {
        do {
            let addon = try Addon(env)
            for (name, body) in addon.functions {
                napi_set_named_property(env, exports, name, addon.function(body))
            }
            // Node ends the environment: a worker that is terminated, too. Nothing of ours may be left on its loop.
            napi_add_async_cleanup_hook(
                env, { handle, data in Unmanaged<Addon>.fromOpaque(data!).takeRetainedValue().end(handle) },
                Unmanaged.passRetained(addon).toOpaque(), nil)
        } catch {
            napi_throw_error(env, nil, "\(error)")
        }
    }

    private func end(_ handle: napi_async_cleanup_hook_handle?) {
        isEnding = true
        loop.detach().whenSuccess { [self] in
            napi_async_destroy(env, context)
            napi_remove_async_cleanup_hook(handle)
        }
    }

    /// Runs `body`, which may call JavaScript, in a callback of the loop. Promises and `nextTick`s that became ready in it
    /// are done before this returns. Runs nothing, and returns `nil`, in an environment that ends.
    @discardableResult
    func enter<Value>(_ body: () throws -> Value) rethrows -> Value? {
        if isEnding { return nil }
        // The values that are made here live until it is closed: no function of JavaScript's is around this.
        var handles: napi_handle_scope?
        napi_open_handle_scope(env, &handles)
        defer { napi_close_handle_scope(env, handles) }
        var (resource, callback): (napi_value?, napi_callback_scope?)
        napi_create_object(env, &resource)
        napi_open_callback_scope(env, resource, context, &callback)
        defer { napi_close_callback_scope(env, callback) }
        return try body()
    }
}

/// What Node calls when the addon is loaded, in each environment.
@c(napi_register_module_v1) public func registerModule(_ env: napi_env, _ exports: napi_value) -> napi_value?
{
    Addon.attach(env, exports)
    return exports
}
