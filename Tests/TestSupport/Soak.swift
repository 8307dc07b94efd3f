internal import Foundation

/// Whether the full sizes are to be tested: with `SOAK` in the environment.
public let isSoaking = ProcessInfo.processInfo.environment["SOAK"] != nil
