public import Testing

/// Calls a closure when it is released.
public final class AtEnd {
    private let body: () -> Void

    public init(_ body: @escaping () -> Void) { self.body = body }

    deinit { body() }
}

/// Puts an object into a place, whose deinit reads that place and puts a third thing there. Fails if it does not find the
/// place whole, or if anything is released at another time. `set` puts an object there, or something else for `nil`.
public func expectReplaceable(
    set: @escaping (AnyObject?) -> Void, read: @escaping () -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    var log: [String] = []
    do {
        let third = AtEnd { log.append("third") }
        let first = AtEnd { [third] in
            read()
            set(third)
            read()
            log.append("first")
        }
        set(first)
    }
    #expect(log == [], sourceLocation: sourceLocation)
    set(nil)
    // What ends at once, or is put there in several steps, lets go of both.
    #expect(log.first == "first", sourceLocation: sourceLocation)
    set(nil)
    #expect(log == ["first", "third"], sourceLocation: sourceLocation)
    read()
}
