internal import CFuturesSystem
internal import Futures
internal import Glibc

extension ChildProcess {
    /// The user that a program runs as, and its groups.
    public struct User: Hashable, Sendable {
        /// The user ID.
        public var id: UInt32
        /// The group ID.
        public var group: UInt32
        /// The IDs of the supplementary groups.
        public var supplementaryGroups: [UInt32]

        public init(id: UInt32, group: UInt32, supplementaryGroups: [UInt32] = []) {
            self.id = id
            self.group = group
            self.supplementaryGroups = supplementaryGroups
        }

        /// Looks up the user called `name` and its groups in the system's user database, such as `/etc/passwd` and
        /// `/etc/group`.
        ///
        /// This reads files, and may ask other machines, so it can block its thread: call it before the loop runs, or
        /// in `RemoteContext.pool`. Throws ``Futures/FutureError/invalidArgument(_:)`` if the user does not exist.
        /// Throws ``SystemError`` if the look-up fails. Calls `getpwnam_r` and `getgrouplist`.
        public init(named name: String) throws {
            try requireArgument(
                !name.utf8.contains(0),
                "the name \(name.debugDescription) of a user contains a NUL, which would cut it off; leave it out"
            )
            var (entry, found) = unsafe (passwd(), UnsafeMutablePointer<passwd>?.none)
            var status = ERANGE
            var buffer: [CChar] = []
            while status == ERANGE, buffer.count < 1 << 20 {
                buffer = Array(repeating: 0, count: max(1024, buffer.count * 2))
                status = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
            }
            guard status == 0 else { throw SystemError(-status, "getpwnam") }
            try requireArgument(
                unsafe found != nil, "there is no user \(name); give the name of a user that exists")
            unsafe self.init(id: entry.pw_uid, group: entry.pw_gid)
            var groups: [gid_t] = Array(repeating: 0, count: 64)
            var count = CInt(groups.count)
            while unsafe getgrouplist(name, group, &groups, &count) < 0 {
                count = max(count, CInt(groups.count * 2))
                groups = Array(repeating: 0, count: Int(count))
            }
            supplementaryGroups = Array(groups.prefix(Int(count)))
        }

        /// The most supplementary groups that the system accepts: `NGROUPS_MAX`.
        private static let maximumGroups = 65_536

        /// Throws `FutureError.invalidArgument` for an ID that the system reads as "no change".
        func validate(for program: String) throws {
            for (kind, number) in [("user", id), ("group", group)]
                + supplementaryGroups.map({ ("group", $0) })
            {
                try requireArgument(
                    number != .max,
                    "\(kind) \(number) of \(program) means “no change” to the system, so the program would "
                        + "keep the one of this process; give 0 to \(UInt32.max - 1)")
            }
            try requireArgument(
                supplementaryGroups.count <= Self.maximumGroups,
                "\(supplementaryGroups.count) supplementary groups of \(program) are too many; give at most "
                    + "\(Self.maximumGroups)")
        }
    }
}
