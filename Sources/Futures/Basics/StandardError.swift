internal import Glibc

/// Prints lines to standard error. Each line is one system call.
package enum StandardError {
    package static func print(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
