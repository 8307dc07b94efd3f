import CNode
import UVFutures

extension Addon {
    func number(_ value: napi_value?) throws -> Double {
        var number = 0.0
        try check(napi_get_value_double(env, value, &number))
        return number
    }

    func wholeNumber(_ value: napi_value?) throws -> Int {
        let number = try number(value)
        guard let whole = Int(exactly: number) else {
            throw FutureError.invalidArgument("\(number) is no whole number")
        }
        return whole
    }

    func value(_ number: Double) -> napi_value? {
        var value: napi_value?
        napi_create_double(env, number, &value)
        return value
    }

    func string(_ text: String) -> napi_value? {
        var value: napi_value?
        napi_create_string_utf8(env, text, text.utf8.count, &value)
        return value
    }

    func property(_ name: String, of object: napi_value?) throws -> napi_value? {
        var value: napi_value?
        try check(napi_get_named_property(env, object, name, &value))
        return value
    }

    @discardableResult
    func call(_ function: napi_value?, on this: napi_value? = nil, _ arguments: napi_value?...) throws
        -> napi_value?
    {
        var (undefined, result): (napi_value?, napi_value?)
        napi_get_undefined(env, &undefined)
        try check(
            napi_call_function(env, this ?? undefined, function, arguments.count, arguments, &result))
        return result
    }
}

/// Keeps a JavaScript value for as long as Swift holds it. Used on the loop's thread, released on any.
final class Held: @unchecked Sendable {
    private let env: napi_env
    private let loop: EventLoop
    private var reference: napi_ref?

    init(_ value: napi_value?, _ addon: Addon) {
        (env, loop) = (addon.env, addon.loop)
        // A reference is to an object, and a value may be a number.
        var box: napi_value?
        napi_create_array_with_length(env, 1, &box)
        napi_set_element(env, box, 0, value)
        napi_create_reference(env, box, 1, &reference)
    }

    var value: napi_value? {
        var (box, value): (napi_value?, napi_value?)
        napi_get_reference_value(env, reference, &box)
        napi_get_element(env, box, 0, &value)
        return value
    }

    deinit {
        nonisolated(unsafe) let env = env
        nonisolated(unsafe) let reference = reference
        // Refused when the environment has ended, which deletes it as well.
        loop.execute { napi_delete_reference(env, reference) }
    }
}
