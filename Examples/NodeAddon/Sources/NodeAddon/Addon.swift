import CNode
import UVFutures

/// What one environment of Node's has: its main thread and each of its workers has one, with a loop of its own.
final class Addon {
    let env: napi_env
    let loop: EventLoop
    private var context: napi_async_context?
    private var isEnding = false
    var server: TCPServer?

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
            let data = Unmanaged.passRetained(addon).toOpaque()
            for (name, function) in functions {
                var value: napi_value?
                napi_create_function(env, name, name.utf8.count, function, data, &value)
                napi_set_named_property(env, exports, name, value)
            }
            // Node ends the environment: a worker that is terminated, too. Nothing of ours may be left on its loop.
            napi_add_async_cleanup_hook(
                env, { handle, data in Unmanaged<Addon>.fromOpaque(data!).takeRetainedValue().end(handle) },
                data, nil)
        } catch {
            napi_throw_error(env, nil, "\(error)")
        }
    }

    private func end(_ handle: napi_async_cleanup_hook_handle?) {
        isEnding = true
        loop.detach().whenSuccess {
            napi_remove_async_cleanup_hook(handle)
            withExtendedLifetime(self) {}
        }
    }

    /// A JavaScript promise with the outcome of `future`.
    func promise(for future: Future<Double>) -> napi_value? {
        var deferred: napi_deferred?
        var promise: napi_value?
        napi_create_promise(env, &deferred, &promise)
        future.whenComplete { [unowned self] result in settle(deferred, result) }
        return promise
    }

    private func settle(_ deferred: napi_deferred?, _ result: Result<Double, any Error>) {
        // No JavaScript runs in an environment that ends.
        if isEnding { return }
        var scope: napi_handle_scope?
        napi_open_handle_scope(env, &scope)
        defer { napi_close_handle_scope(env, scope) }
        // What waits for the promise runs when the outermost callback scope is closed.
        var callbackScope: napi_callback_scope?
        var resource: napi_value?
        napi_create_object(env, &resource)
        napi_open_callback_scope(env, resource, context, &callbackScope)
        defer { napi_close_callback_scope(env, callbackScope) }
        switch result {
        case .success(let number):
            napi_resolve_deferred(env, deferred, value(number))
        case .failure(let error):
            var object: napi_value?
            napi_create_error(env, nil, string("\(error)"), &object)
            napi_reject_deferred(env, deferred, object)
        }
    }

    // MARK: Values

    func number(_ value: napi_value?) -> Double {
        var number = 0.0
        napi_get_value_double(env, value, &number)
        return number
    }

    func value(_ number: Double) -> napi_value? {
        var value: napi_value?
        napi_create_double(env, number, &value)
        return value
    }

    private func string(_ text: String) -> napi_value? {
        var value: napi_value?
        napi_create_string_utf8(env, text, text.utf8.count, &value)
        return value
    }
}

extension Addon {
    /// The JavaScript functions, by name.
    private static var functions: [(String, napi_callback)] {
        [
            // delay(milliseconds, number) -> promise
            (
                "delay",
                { env, info in
                    Addon.call(env, info) { addon, arguments in
                        let number = addon.number(arguments[1])
                        return addon.promise(
                            for: addon.loop.sleep(for: .milliseconds(addon.number(arguments[0]))).map {
                                number
                            })
                    }
                }
            ),
            // soon(number) -> promise
            (
                "soon",
                { env, info in
                    Addon.call(env, info) { addon, arguments in
                        let number = addon.number(arguments[0])
                        return addon.promise(for: addon.loop.submit { number })
                    }
                }
            ),
            // primes(limit) -> promise, of an asynchronous function
            (
                "primes",
                { env, info in
                    Addon.call(env, info) { addon, arguments in
                        guard let limit = Int(exactly: addon.number(arguments[0])) else {
                            throw FutureError.invalidArgument("the limit is no whole number")
                        }
                        return addon.promise(
                            for: Future(on: addon.loop) {
                                try await Double(primes(below: limit, on: addon.loop))
                            })
                    }
                }
            ),
            // listen() -> the port of an echo server
            (
                "listen",
                { env, info in
                    Addon.call(env, info) { addon, _ in
                        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: addon.loop) {
                            connection in
                            connection.forEachChunk { chunk in connection.write(chunk) }
                        }
                        addon.server = server
                        return addon.value(Double(server.localAddress.port))
                    }
                }
            ),
            // close(): no new connections
            (
                "close",
                { env, info in
                    Addon.call(env, info) { addon, _ in
                        addon.server?.close()
                        return nil
                    }
                }
            ),
        ]
    }

    /// Calls `body` with what a function was called with: two arguments, those that were left out undefined.
    private static func call(
        _ env: napi_env?, _ info: napi_callback_info?, _ body: (Addon, [napi_value?]) throws -> napi_value?
    ) -> napi_value? {
        var count = 2
        var arguments = [napi_value?](repeating: nil, count: 2)
        var data: UnsafeMutableRawPointer?
        napi_get_cb_info(env, info, &count, &arguments, nil, &data)
        do {
            return try body(Unmanaged<Addon>.fromOpaque(data!).takeUnretainedValue(), arguments)
        } catch {
            napi_throw_error(env, nil, "\(error)")
            return nil
        }
    }
}

/// How many primes there are: on Node's loop but for the counting, like its caller.
nonisolated(nonsending) func primes(below limit: Int, on loop: EventLoop) async throws -> Int {
    guard limit >= 0 else {
        throw FutureError.invalidArgument("there is no prime below \(limit): give more than 2")
    }
    try await loop.sleep(for: .milliseconds(1)).value
    // On Swift's threads: whatever a body awaits runs on the loop otherwise.
    let count = await withTaskExecutorPreference(globalConcurrentExecutor) { await countPrimes(below: limit) }
    precondition(loop.isCurrent)
    return count
}

@concurrent func countPrimes(below limit: Int) async -> Int {
    guard limit > 2 else { return 0 }
    return (2..<limit).count { number in !(2..<number).contains { number % $0 == 0 } }
}

/// What Node calls when the addon is loaded, in each environment.
@c(napi_register_module_v1) public func registerModule(_ env: napi_env, _ exports: napi_value) -> napi_value?
{
    Addon.attach(env, exports)
    return exports
}
