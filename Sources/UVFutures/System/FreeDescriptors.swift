internal import CLibUV
internal import Glibc

/// Throws unless `count` descriptors are free, where libuv or Dispatch would end the process for lack of them.
func checkFreeDescriptors(_ count: Int, for operation: String) throws(UVError) {
    var taken: [CInt] = []
    defer { for descriptor in taken { close(descriptor) } }
    for _ in 0..<count {
        let descriptor = make_hang_up_set()
        guard descriptor >= 0 else { throw UVError(-errno, operation) }
        taken.append(descriptor)
    }
}

/// Advice on a lack of descriptors.
let adviceOnDescriptors =
    "Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes."
