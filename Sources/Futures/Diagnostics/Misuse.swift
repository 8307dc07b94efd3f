/// The traps for mistakes of a programmer. They trap in release builds too. The sentence of each trap names
/// the remedy.
package enum Misuse {
    /// `home` is the task that the loop belongs to.
    static func wrongThread(home: UInt) -> Never {
        trap("This future, promise or timer was used \(remedy(home: home))")
    }

    package static func forked() -> Never {
        trap(
            "An event loop was used in a process that came out of fork() after the loop was made. Fork first and make "
                + "the loop then, or let the child call exec() without using the loop.")
    }

    static func foreignFuture() -> Never {
        trap(
            "A future of another event loop was given where a future of this loop is needed. Give the future "
                + "of a promise of this loop, and complete that promise with loop.execute { … } from the "
                + "other loop's callback.")
    }

    static func foreignToken() -> Never {
        trap(
            "A cancellation token of another event loop was given where a token of this loop is needed. Make "
                + "a CancellationSource of this loop, and cancel that with loop.execute { … } from the other "
                + "loop's callback.")
    }

    static func foreignIterator() -> Never {
        trap(
            "A sequence was given an iterator of another event loop. Make the sequence on the loop on which the elements "
                + "come.")
    }

    static func nestedRun(_ call: String) -> Never {
        trap(
            "\(call) was called on an event loop that is running. Return from the callback instead, and go on in a "
                + "future's callback, or await the future in asynchronous code.")
    }

    static func runElsewhere(_ call: String) -> Never {
        trap(
            "\(call) was called on another thread than the one that has used the event loop so far. Make and run "
                + "the loop on one thread, or make nothing on it before it runs.")
    }

    static func attached(_ call: String) -> Never {
        trap(
            "\(call) was called on an event loop that is attached to a host's loop, and only the host runs "
                + "it. Register callbacks and return to the host, and call detach() in the end.")
    }

    static func forgottenLoop(with rest: String) -> String {
        "An event loop was released without shutdown(), with \(rest) alive on it, which end now. Keep the "
            + "EventLoop object as long as you need it, and then call shutdown()."
    }

    static func forgottenElsewhere(with rest: String) -> Never {
        trap(
            "An event loop was released on another thread than its own, with \(rest) alive on it. Call shutdown() on its "
                + "thread before, or release it there. Perhaps a closure on another thread held the last "
                + "reference to it.")
    }

    static func notAttached() -> Never {
        trap("detach() was called on an event loop that is not attached to a host's. End it with shutdown().")
    }

    static func endOfAttachedThread() -> Never {
        trap(
            "A thread has ended while an event loop was attached to its host's loop. Call detach() first, and let the "
                + "host run its loop until the future of that completes.")
    }

    static func noLoop() -> Never {
        trap(
            "A group without futures cannot know its event loop. Add the argument on: loop, or call it from "
                + "a loop's callback."
        )
    }

    static func unexpectedFailure(_ error: any Error) -> String {
        "A future that must not fail has failed: \(error). Handle the error before the check, or remove the check."
    }

    static func unexpectedSuccess(_ value: some Any) -> String {
        "A future that must fail has a value: \(value). Remove the check, or what makes it succeed."
    }

    static func jobWithoutLoop() -> Never {
        trap(
            "execute was called on a thread without an event loop, so its future would have no loop. Add the "
                + "argument on: loop, or call it from a loop's callback.")
    }

    static func noBarrier(_ context: String) -> Never {
        trap(
            "A barrier was requested from \(context), which does not start its jobs in order. Use a Dispatch "
                + "queue, or make a context with .limited(maxConcurrent:on:).")
    }

    static func waitOnLoop() -> Never {
        trap(
            "wait was called on the event loop's own thread, which would block the loop. Register a "
                + "callback with whenComplete instead, or use run(until:) outside of all callbacks.")
    }

    /// Traps for a size that is too small, where no future can carry the error.
    package static func size(_ size: Int, of what: String, atLeast minimum: Int) -> Never {
        trap("\(what) must be at least \(minimum), not \(size).")
    }

    /// Traps for any other argument. `text` is the sentence with which a future would fail.
    package static func sentence(_ text: String) -> Never { trap(text) }

    static func endlessShutdown() -> Never {
        trap(
            "shutdown() was kept busy by callbacks that start new work when their work fails. Let them end on "
                + "FutureError.shutDown.")
    }

    static func actorOutlivesLoop() -> Never {
        trap(
            "A job was given to an actor whose event loop has been shut down. Shut the loop down after the last "
                + "use of its actors.")
    }
}
