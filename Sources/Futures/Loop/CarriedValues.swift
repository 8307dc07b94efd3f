/// The values of task-locals for a closure, taken at its registration.
@usableFromInline
package struct CarriedValues: Sendable {
    /// Calls `body`, which sees the values. `nil` if there are none.
    @usableFromInline let call: (@Sendable (_ body: () -> Void) -> Void)?

    @inlinable
    init(_ call: (@Sendable (_ body: () -> Void) -> Void)?) { self.call = call }

    @inlinable
    package var isEmpty: Bool { call == nil }

    /// Calls `body`, which sees the values.
    @inlinable
    func set(during body: () -> Void) { if let call { call(body) } else { body() } }

    /// Calls `body`, which sees the values, and returns what it returns.
    // Inlined, since streams call this for each chunk, mostly without values.
    @inlinable @inline(__always)
    package func during<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        if isEmpty { try body() } else { try result(of: body).get() }
    }

    @usableFromInline
    func result<Value, Failure>(of body: () throws(Failure) -> Value) -> Result<Value, Failure> {
        var result: Result<Value, Failure>?
        set { do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) } }
        return result!
    }
}
