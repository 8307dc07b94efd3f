internal import CFuturesSystem
internal import Glibc
internal import SystemIO

/// The processes of a group, one by one. The system itself only tells whether the group exists, and also counts
/// processes that have ended and that nobody has reaped.
enum ProcessGroup {
    /// Whether a process is in the group, and has not ended.
    static func contains(_ process: Int32, in group: Int32) -> Bool {
        guard getpgid(process) == group else { return false }
        let descriptor = open_process(process)
        guard descriptor >= 0 else { return descriptor != -ESRCH }
        defer { close(descriptor) }
        return events(of: descriptor) == 0 && getpgid(process) == group
    }

    /// Returns the processes of the group that have not ended. Returns `nil` where ``all`` is `nil`.
    ///
    /// Searches twice before it returns an empty list: a process that starts meanwhile may have a lower number than
    /// those checked already. Asks the system for the group of each process, which takes 0.7 ms for 1,100 processes.
    /// Reading about each in `/proc` took 8 ms and more.
    static func members(of group: Int32) -> [Int32]? {
        for _ in 0..<2 {
            guard let processes = all else { return nil }
            let members = processes.filter { contains($0, in: group) }
            if !members.isEmpty { return members }
        }
        return []
    }

    /// The numbers of all processes. `nil` if `/proc` cannot be read or belongs to another namespace.
    static var all: [Int32]? {
        // `/proc` may list the processes of another namespace. Their numbers mean nothing here.
        var own = [CChar](repeating: 0, count: 16)
        let descriptor = unsafe open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, unsafe readlinkat(descriptor, "self", &own, 15) > 0,
            unsafe atoi(own) == getpid()
        else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        let listing = SystemListing(descriptor)
        defer { listing.close() }
        var processes: [Int32] = []
        while let entries = try? listing.next(), !entries.isEmpty {
            processes += entries.compactMap { Int32($0.name) }
        }
        return processes
    }
}
