internal import CRuntime

/// Ends the process with a sentence about a programmer's mistake. If this library was built for debugging, adds the
/// place of the call in question. Finding it takes a third of a second in a large program. No place is named where
/// `SWIFT_BACKTRACE` says that a crash shall take no time for such things.
package func trap(_ sentence: String) -> Never {
    #if DEBUG
        if !wants_no_backtrace(), let call = placeOfCall { fatalError("\(sentence) (\(call).)") }
    #endif
    fatalError(sentence)
}

#if DEBUG
    private var placeOfCall: String? {
        guard let loop = EventLoop.current, loop.core.isOnItsThread else {
            return Callers().place.map { "Called at \($0)" }
        }
        if let place = Callers(on: loop.core).place { return "Called at \(place)" }
        // It is about what a callback has returned.
        return loop.core.ready.running?.object.callers.place.map { "In a callback made at \($0)" }
    }
#endif
