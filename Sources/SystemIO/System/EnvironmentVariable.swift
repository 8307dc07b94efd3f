internal import CFuturesSystem
internal import Glibc

/// A variable in the environment of the process. No other code should change the environment at the same
/// time.
struct EnvironmentVariable {
    let name: String

    var value: String? {
        unsafe getenv(name).map {
            unsafe String(systemBytes: UnsafeRawBufferPointer(start: $0, count: strlen($0)))
        }
    }

    func remove() { unsafe _ = unsetenv(name) }

    /// All variables. Names and values are the bytes of the system.
    static var all: [[UInt8]: [UInt8]] {
        var (variables, next) = unsafe ([:] as [[UInt8]: [UInt8]], own_environment())
        while let line = unsafe next?.pointee {
            let bytes = unsafe UnsafeRawBufferPointer(start: line, count: strlen(line))
            let parts = unsafe bytes.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false
            ).map { unsafe Array($0) }
            // The first variable of a name counts, as for `getenv`.
            if parts.count == 2, variables[parts[0]] == nil { variables[parts[0]] = parts[1] }
            unsafe next = next?.advanced(by: 1)
        }
        return variables
    }
}
