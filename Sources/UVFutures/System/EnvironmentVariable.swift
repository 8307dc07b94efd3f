internal import CLibUV
internal import Glibc

/// A variable in the environment of the process. No other code should change the environment at the same
/// time.
struct EnvironmentVariable {
    let name: String

    var value: String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    func remove() { unsafe _ = unsetenv(name) }

    /// All variables, by name.
    static var all: [String: String] {
        var (variables, next) = unsafe ([:] as [String: String], own_environment())
        while let line = unsafe next?.pointee {
            let parts = unsafe String(cString: line).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // As `getenv`, which finds the first of a name.
            if parts.count == 2, variables[String(parts[0])] == nil {
                variables[String(parts[0])] = String(parts[1])
            }
            unsafe next = next?.advanced(by: 1)
        }
        return variables
    }
}
