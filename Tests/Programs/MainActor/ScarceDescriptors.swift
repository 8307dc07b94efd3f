import Glibc
import UVFutures

// The main loop is made, or says why it cannot be, however few descriptors there are.

/// What a child prints that may open so many descriptors, if it is ended by a signal.
func complaint(descriptors: Int) -> String? {
    var ends: [CInt] = [0, 0]
    pipe(&ends)
    let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork")
    let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    if child == 0 {
        dup2(ends[1], STDERR_FILENO)
        leave(descriptors)
        try! EventLoop.main.run(until: EventLoop.main.sleep(for: .milliseconds(1)))
        _exit(0)
    }
    close(ends[1])
    var (text, status): ([UInt8], CInt) = ([], 0)
    var block = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(ends[0], &block, block.count)
        guard count > 0 else { break }
        text += block.prefix(count)
    }
    close(ends[0])
    waitpid(child, &status, 0)
    return status == 0 ? nil : String(decoding: text, as: UTF8.self)
}

func leave(_ count: Int) {
    var limit = rlimit(rlim_cur: 64, rlim_max: 64)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var taken: [CInt] = []
    while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 { taken.append(descriptor) }
    for descriptor in taken.suffix(count) { close(descriptor) }
}

let advice =
    "too many open files. Raise the limit (ulimit -n, LimitNOFILE=), or look for descriptors that nobody closes."
let ofLoop = "The event loop of the main thread could not be made: loop EMFILE: \(advice)"
let ofQueue = "An event loop cannot do the work of the main queue: main queue EMFILE: \(advice)"
let complaints = (0..<12).map { complaint(descriptors: $0) }
let made = complaints.firstIndex(of: nil) ?? 12
print("with enough: \(complaints[made...].allSatisfy { $0 == nil })")
print("with one too few: \(complaints[made - 1]!.contains(ofQueue))")
print("with fewer: \(complaints[..<(made - 1)].allSatisfy { $0!.contains(ofLoop) })")
