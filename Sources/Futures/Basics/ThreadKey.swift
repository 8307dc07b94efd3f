package import Glibc

/// Returns a new key for a value of each thread. Calls `end` at the end of a thread that has a value.
package func makeThreadKey(
    _ end: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil
) -> pthread_key_t {
    var key = pthread_key_t()
    guard unsafe pthread_key_create(&key, end) == 0 else { fatalError("No thread-specific key is left.") }
    return key
}
