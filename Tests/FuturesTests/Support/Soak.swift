import Foundation

/// How long a chain of futures is to be: the full size takes `SOAK=1` in the environment.
let longChain = ProcessInfo.processInfo.environment["SOAK"] == nil ? 100_000 : 1_000_000
