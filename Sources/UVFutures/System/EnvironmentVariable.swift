internal import Glibc

/// A variable in the environment of the process. No other code should change the environment at the same
/// time.
struct EnvironmentVariable {
    let name: String

    var value: String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    func remove() { unsafe _ = unsetenv(name) }
}
