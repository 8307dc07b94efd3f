internal import CLibUV
internal import Glibc

/// Throws unless so many descriptors can be had, where libuv or Dispatch would end the process for want of them.
func checkFreeDescriptors(_ count: Int, for operation: String) throws(UVError) {
    var taken: [CInt] = []
    defer { for descriptor in taken { close(descriptor) } }
    for _ in 0..<count {
        let descriptor = make_hang_up_set()
        guard descriptor >= 0 else { throw UVError(-errno, operation, local: nil, peer: nil) }
        taken.append(descriptor)
    }
}

/// What to do for want of descriptors.
let adviceOnDescriptors =
    "Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes."

/// A new loop of libuv's, whose memory is the caller's.
func makeLoop() throws(UVError) -> UnsafeMutablePointer<uv_loop_t> {
    try StandardDescriptors.fill()
    // The loop's set, its ring, and a pipe that all loops share, without which libuv ends the process. For what else it
    // wants it asks in an orderly way.
    try checkFreeDescriptors(4, for: "loop")
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let status = unsafe uv_loop_init(loop)
    guard status != 0 else { return unsafe loop }
    // Up to 1.50 libuv leaves the set open.
    let left = unsafe uv_backend_fd(loop)
    if left > 2 { close(left) }
    unsafe loop.deallocate()
    throw UVError(status, "loop", local: nil, peer: nil)
}
