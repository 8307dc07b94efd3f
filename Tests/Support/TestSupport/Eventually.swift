internal import Glibc

/// Whether `condition` comes to hold, which depends on what other threads are about to do: release a reference.
public func eventually(_ condition: () -> Bool) -> Bool {
    let start = ContinuousClock.now
    while !condition() {
        if .now - start > .seconds(30) { return false }
        sched_yield()
    }
    return true
}
