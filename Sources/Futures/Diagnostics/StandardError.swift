internal import Glibc

/// Prints lines for a person, straight to the descriptor, each as a whole.
package enum StandardError {
    package static func print(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
