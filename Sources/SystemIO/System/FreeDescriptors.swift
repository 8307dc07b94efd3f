internal import CFuturesSystem
internal import Glibc

/// Throws `SystemError` unless `count` descriptors are free. Called before calls of libuv or Dispatch that would end
/// the process if descriptors were lacking. With more than two, also throws if the limits of the user allow no further
/// pipe or no further watch by `epoll`.
package func checkFreeDescriptors(_ count: Int, for operation: String) throws(SystemError) {
    var taken: [CInt] = []
    defer { for descriptor in taken { close(descriptor) } }
    if count > 2 {
        taken = try pipeDescriptors(for: operation)
        let counter = eventfd(0, CInt(EFD_CLOEXEC))
        guard counter >= 0 else { throw SystemError(-errno, operation) }
        taken.append(counter)
    }
    while taken.count < count {
        let descriptor = make_hang_up_set()
        guard descriptor >= 0 else { throw SystemError(-errno, operation) }
        taken.append(descriptor)
    }
    if count > 2, !watch_for_hang_up(taken[3], taken[0]) { throw SystemError(-errno, operation) }
}

/// Returns the two ends of a new pipe: the one to read, and the one to write.
func pipeDescriptors(for operation: String) throws(SystemError) -> [CInt] {
    var ends: [CInt] = [-1, -1]
    guard unsafe open_pipe(&ends, O_CLOEXEC) == 0 else { throw SystemError(-errno, operation) }
    return ends
}

/// The advice for a user whose process cannot open more descriptors.
package let adviceOnDescriptors =
    "Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes."
