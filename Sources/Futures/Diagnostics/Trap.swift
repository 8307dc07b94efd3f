internal import CFuturesRuntime

/// Ends the process with a sentence about a mistake of the programmer. If this library was built for
/// debugging, adds the source line of the call in question. In a large program, the search for that line
/// takes up to a fifth of a second. There is no search if `SWIFT_BACKTRACE` turns off the backtraces of crashes.
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
        // The callback itself has returned: the mistake is in its result.
        return loop.core.ready.running?.object.callers.place.map { "In a callback made at \($0)" }
    }
#endif
