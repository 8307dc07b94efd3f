internal import Foundation

/// Whether the full sizes are to be tested: with `SOAK` in the environment.
public let isSoaking = ProcessInfo.processInfo.environment["SOAK"] != nil

/// How many of something have to fit in memory, stack and time: a tenth with `SMALL` in the environment, where the
/// thread sanitizer makes each step twenty times as long.
public let largeCount =
    isSoaking ? 1_000_000 : ProcessInfo.processInfo.environment["SMALL"] != nil ? 10_000 : 100_000
