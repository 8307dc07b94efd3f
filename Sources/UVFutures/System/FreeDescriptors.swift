internal import CLibUV
internal import Glibc

/// Throws `UVError` unless `count` descriptors are free. Called before calls of libuv or Dispatch that would
/// end the process if descriptors were lacking.
func checkFreeDescriptors(_ count: Int, for operation: String) throws(UVError) {
    var taken: [CInt] = []
    defer { for descriptor in taken { close(descriptor) } }
    for _ in 0..<count {
        let descriptor = make_hang_up_set()
        guard descriptor >= 0 else { throw UVError(-errno, operation) }
        taken.append(descriptor)
    }
}

/// The advice for a user whose process cannot open more descriptors.
let adviceOnDescriptors =
    "Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes."
