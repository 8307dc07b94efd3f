internal import CRuntime

#if DEBUG
    /// Who has called, as raw addresses: cheap enough to be kept for each future. What they mean is found out when somebody
    /// asks for the ``place``.
    package struct Callers {
        private static let limit: Int32 = 24

        private let found: return_addresses

        /// Those of the caller, within the turn of `loop` if one runs: whoever runs a loop does not make what is made in
        /// its callbacks.
        package init(on loop: borrowing LoopCore) {
            found = return_addresses_within(loop.isOnItsThread ? loop.turnDepth : 0)
        }

        /// Those of the caller, who is in no turn.
        init() { found = return_addresses_within(0) }

        /// Innermost first.
        var addresses: [UInt64] {
            (0..<Self.limit).map { UInt64(return_address_at(found, $0)) }.filter { $0 != 0 }
        }

        #if compiler(<6.3) || compiler(>=6.4)
            package var place: String? { nil }
        #endif
    }
#endif
