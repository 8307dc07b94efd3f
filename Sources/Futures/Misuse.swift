/// What a programmer's mistake is answered with, in release builds too: one sentence that names the remedy.
enum Misuse {
    static func wrongThread() -> Never {
        fatalError(
            "This future, promise or timer was used off its event loop's thread. Go there first, with "
                + "loop.execute { … }.")
    }

    static func foreignFuture() -> Never {
        fatalError(
            "A future of another event loop was given where only one of this loop can be waited for. Complete a "
                + "promise of this loop instead, with loop.execute { … } from the other loop's callback.")
    }

    static func nestedRun() -> Never {
        fatalError(
            "run() was called on an event loop that is running. Return from the callback instead, and go on in a "
                + "future's callback.")
    }

    static func runElsewhere() -> Never {
        fatalError(
            "run() was called on another thread than the one that has used the event loop so far. Make and run "
                + "the loop on one thread, or make nothing on it before run().")
    }

    static func noLoop() -> Never {
        fatalError(
            "A group without futures cannot know its event loop. Pass on: loop, or call it from a loop's callback."
        )
    }

    static func endlessShutdown() -> Never {
        fatalError(
            "shutdown() was kept busy by callbacks that start new work when their work fails. Let them end on "
                + "FutureError.shutDown.")
    }

    static func actorOutlivesLoop() -> Never {
        fatalError(
            "A job was given to an actor whose event loop has been shut down. Shut the loop down after the last "
                + "use of its actors.")
    }
}
