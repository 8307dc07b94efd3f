import ArgumentParser

/// Refuses times that are no limit of a stream. `nil` stands for none.
public func checkTimeLimits(_ given: (what: String, seconds: Double?)...) throws {
    for case (let what, let seconds?) in given where !(0.001...32_767).contains(seconds) {
        throw ValidationError("\(what) of \(seconds) seconds makes no sense; give 0.001 to 32767")
    }
}
