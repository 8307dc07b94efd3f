import Glibc

/// Prints a line at once, also into a pipe.
public func say(_ line: String) {
    print(line)
    fflush(nil)
}
