internal import CFuturesRuntime

#if DEBUG
    /// The calls on the stack, as raw addresses. They are cheap enough to be kept for each future. ``place``
    /// finds out which source lines they mean.
    package struct Callers {
        private static let limit: Int32 = 24

        private let found: return_addresses
        /// Whether the addresses are those at which a task goes on.
        private(set) var areResumed = false

        /// Records the calls that led here. If a turn of `loop` runs, records only the calls within the turn,
        /// since the code that runs a loop makes nothing in the loop's callbacks.
        package init(on loop: borrowing LoopCore) {
            found = return_addresses_within(loop.isOnItsThread ? loop.turnState.stackDepth : 0)
        }

        /// Records all calls that led here.
        init() { found = return_addresses_within(0) }

        /// The calls of another thread.
        init(_ found: return_addresses) { self.found = found }

        /// Finds the calls in which `task` waits, which must not run.
        init(ofWaiting task: UnsafeRawPointer) {
            found = unsafe resume_addresses_of(task)
            areResumed = true
        }

        /// The addresses. The innermost call comes first.
        var addresses: [UInt64] {
            (0..<Self.limit).map { UInt64(return_address_at(found, $0)) }.filter { $0 != 0 }
        }
    }
#else
    /// Nothing: a release build records no calls.
    package struct Callers {
        package init(on loop: borrowing LoopCore) {}
        init(ofWaiting task: UnsafeRawPointer) {}
    }
#endif

#if !DEBUG || compiler(<6.3) || compiler(>=6.4)
    extension Callers {
        package var place: String? { nil }
        /// Whether the layout of the runtime's tasks is known.
        static var knowsTasks: Bool { false }
    }
#endif
