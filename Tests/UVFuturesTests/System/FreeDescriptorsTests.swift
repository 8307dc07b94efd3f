import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct FreeDescriptorsTests {
    @Test(
        "a loop that cannot have its descriptors throws, leaves none behind, and is made when there are some")
    func throwing() async {
        await #expect(processExitsWith: .success) {
            var outcomes: [Bool] = []
            for left in 0..<10 {
                let status = inChild {
                    leave(left)
                    let first = try canMakeLoop()
                    // What all loops share stays.
                    let free = freeDescriptors()
                    guard try first == canMakeLoop(), free == freeDescriptors() else { return 2 }
                    return first ? 0 : 1
                }
                #expect(status == 0 || status == 1 << 8, "\(status) with \(left) left")
                outcomes.append(status == 0)
            }
            #expect(!outcomes[0])
            #expect(outcomes[9])
            let used = inChild {
                let before = openDescriptors().count
                let loop = try EventLoop()
                return CInt(withExtendedLifetime(loop) { openDescriptors().count - before })
            }
            // With as many as it uses it is made, and with none less.
            #expect(outcomes.firstIndex(of: true) == Int(used >> 8))
        }
    }
}

private func canMakeLoop() throws -> Bool {
    do {
        let loop = try EventLoop()
        try loop.run(until: loop.sleep(for: .milliseconds(1)))
        loop.shutdown()
        return true
    } catch let error as SystemError where error.code == .tooManyOpenFiles && error.operation == "loop" {
        return false
    }
}

/// Leaves so many descriptors.
private func leave(_ count: Int) {
    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var taken: [CInt] = []
    while true {
        let descriptor = dup(STDERR_FILENO)
        guard descriptor >= 0 else { break }
        taken.append(descriptor)
    }
    for descriptor in taken.suffix(count) { close(descriptor) }
}

private func freeDescriptors() -> Int {
    (0..<CInt(256)).count { fcntl($0, F_GETFD) < 0 }
}
