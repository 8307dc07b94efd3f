import CNode
import UVFutures

/// What JavaScript has thrown, or rejected a promise with: any value.
struct JavaScriptError: Error, CustomStringConvertible {
    let value: Held
    let description: String
}

extension Addon {
    /// Throws unless a call of Node's went well: what JavaScript has thrown in it, or what Node says.
    func check(_ status: napi_status) throws {
        if status == napi_ok { return }
        var (info, isPending): (UnsafePointer<napi_extended_error_info>?, Bool) = (nil, false)
        // Asked first, since each other call of Node's overwrites it.
        napi_get_last_error_info(env, &info)
        let message = info?.pointee.error_message.map { String(cString: $0) }
        // Whatever the status: as long as an exception is pending other calls fail.
        napi_is_exception_pending(env, &isPending)
        if isPending { throw error(thrown: takeException()) }
        throw FutureError.message(message ?? "unknown")
    }

    /// The exception that is pending, which it is not any more.
    private func takeException() -> napi_value? {
        var exception: napi_value?
        napi_get_and_clear_last_exception(env, &exception)
        return exception
    }

    func error(thrown value: napi_value?) -> JavaScriptError {
        JavaScriptError(value: Held(value, self), description: "JavaScript threw \(text(value))")
    }

    /// The JavaScript error for one of Swift's, with a code like Node's own errors. What came from JavaScript goes back as
    /// it was.
    func value(_ error: any Error) -> napi_value? {
        if let error = error as? JavaScriptError { return error.value.value }
        let code = error is CancellationError ? "ABORT_ERR" : (error as? SystemError)?.code.name
        var value: napi_value?
        napi_create_error(env, code.flatMap(string), string("\(error)"), &value)
        return value
    }

    func text(_ value: napi_value?) -> String {
        var text: napi_value?
        guard napi_coerce_to_string(env, value, &text) == napi_ok else {
            _ = takeException()
            return "what is no text"
        }
        var length = 0
        napi_get_value_string_utf8(env, text, nil, 0, &length)
        var bytes = [CChar](repeating: 0, count: length + 1)
        napi_get_value_string_utf8(env, text, &bytes, bytes.count, &length)
        return String(decoding: bytes.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
