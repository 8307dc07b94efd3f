internal import CFuturesSystem
internal import Futures
internal import Glibc
internal import SystemIO

/// A process that has been started, and its descriptor.
typealias StartedChild = (id: Int32, descriptor: CInt)

/// The memory that a child reads until its program runs.
///
/// Programs are started by `clone` and not by `posix_spawn`, which returns no descriptor of the process. A host that
/// reaps any child could reap the child before `pidfd_open`, and the number could then stand for another process.
/// `posix_spawn` also cannot set a user, a group or a limit.
@safe
struct ChildStart {
    /// The number of starts as another user that are in progress in this process, and whether the process was dumpable
    /// before them. A child that changes its user makes the memory that it shares undumpable. The last start undoes it.
    private static let changes = Locked((count: 0, wasDumpable: false))

    private let launch: ProcessLaunch
    private let descriptors: ChildDescriptors

    init(_ launch: ProcessLaunch, _ descriptors: ChildDescriptors) {
        self.launch = launch
        self.descriptors = descriptors
    }

    /// Starts the program. The thread waits until the program runs. Throws `ProcessError`.
    func run() throws -> StartedChild {
        let targets = descriptors.sources.keys.sorted()
        var sources = targets.map { descriptors.sources[$0]! }
        let limits = launch.limits.map {
            process_limit(resource: $0.resource, soft: UInt64($0.soft), hard: UInt64($0.hard))
        }
        var start = unsafe process_start()
        unsafe start.count = CInt(targets.count)
        unsafe start.terminal = launch.window == nil ? -1 : 0
        unsafe start.makes_session = launch.makesSession
        unsafe start.makes_group = launch.makesGroup
        if let mask = launch.fileMask { unsafe (start.sets_mask, start.mask) = (true, mask) }
        if let user = launch.user { unsafe (start.sets_user, start.user) = (true, user) }
        if let group = launch.group { unsafe (start.sets_group, start.group) = (true, group) }
        if let groups = launch.groups {
            unsafe (start.sets_groups, start.group_count) = (true, CInt(groups.count))
        }
        unsafe start.limit_count = CInt(limits.count)
        let (paths, environment) = (CStrings(launch.paths), CStrings(launch.environment))
        let arguments = CStrings(launch.arguments.map { $0.systemBytes })
        let directory = CStrings(launch.directory.map { [$0.systemBytes] } ?? [])
        unsafe start.paths = paths.all
        unsafe start.arguments = arguments.all
        unsafe start.environment = environment.all
        unsafe start.directory = UnsafePointer(directory.all[0])
        let isStarted = unsafe sources.withUnsafeMutableBufferPointer { sources in
            unsafe targets.withUnsafeBufferPointer { targets in
                unsafe limits.withUnsafeBufferPointer { limits in
                    unsafe (launch.groups ?? []).withUnsafeBufferPointer { groups in
                        unsafe start.sources = sources.baseAddress
                        unsafe start.targets = targets.baseAddress
                        unsafe start.limits = limits.baseAddress
                        unsafe start.groups = groups.baseAddress
                        return Self.keepingDumpable(launch.user != nil || launch.group != nil) {
                            unsafe start_process(&start)
                        }
                    }
                }
            }
        }
        withExtendedLifetime((paths, arguments, environment, directory)) {}
        guard isStarted else { throw unsafe failure(start, targets) }
        let descriptor = StandardDescriptors.leave(unsafe start.descriptor)
        guard descriptor >= 0 else { throw ProcessError(launch.program, .makeProcess, .tooManyOpenFiles) }
        return unsafe (start.process, descriptor)
    }

    private static func keepingDumpable(_ changesUser: Bool, _ start: () -> Bool) -> Bool {
        guard changesUser else { return start() }
        changes.withLock { changes in
            if changes.count == 0 { changes.wasDumpable = is_dumpable() }
            changes.count += 1
        }
        defer {
            changes.withLock { changes in
                changes.count -= 1
                if changes.count == 0, changes.wasDumpable { make_dumpable() }
            }
        }
        return start()
    }

    private func failure(_ start: process_start, _ targets: [CInt]) -> ProcessError {
        let index = unsafe Int(start.index)
        let (step, subject): (ProcessError.Step, String) =
            switch unsafe start.failed_step {
            case STEP_SESSION: (.makeSession, "")
            case STEP_GROUP: (.makeGroup, "")
            case STEP_TERMINAL: (.controlTerminal, "")
            case STEP_DESCRIPTORS: (.passDescriptor, "\(targets[index])")
            case STEP_CLOSE: (.closeDescriptors, "")
            case STEP_LIMIT: (.setLimit, launch.limits[index].name)
            case STEP_USER_GROUPS: (.setGroups, "")
            case STEP_GROUP_ID: (.setGroup, "\(launch.group!)")
            case STEP_USER_ID: (.setUser, "\(launch.user!)")
            case STEP_DIRECTORY: (.changeDirectory, launch.directory!)
            case STEP_EXECUTE: (.execute, "")
            default: (.makeProcess, "")
            }
        return unsafe ProcessError(launch.program, step, SystemError.Code(rawValue: -start.error), subject)
    }
}

/// Strings in the form of C, with `nil` after the last one. They live as long as this object.
@safe
private final class CStrings {
    let all: UnsafePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [[UInt8]]) {
        count = strings.count
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: count + 1)
        unsafe all = UnsafePointer(pointers)
        for (index, string) in strings.enumerated() {
            let characters = string.map { CChar(bitPattern: $0) } + [0]
            unsafe (pointers + index).initialize(to: strdup(characters))
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(all[index]) }
        unsafe all.deallocate()
    }
}
