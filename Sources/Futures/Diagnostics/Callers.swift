internal import CRuntime

#if DEBUG
    /// The calls on the stack, as raw addresses: cheap enough to be kept for each future. Asking for the ``place``
    /// finds out what they mean.
    package struct Callers {
        private static let limit: Int32 = 24

        private let found: return_addresses

        /// Takes the calls that led here, within the turn of `loop` if one runs: the code that runs a loop does not
        /// make what is made in its callbacks.
        package init(on loop: borrowing LoopCore) {
            found = return_addresses_within(loop.isOnItsThread ? loop.turnState.stackDepth : 0)
        }

        /// Takes the calls that led here, outside of a turn.
        init() { found = return_addresses_within(0) }

        /// The addresses, innermost first.
        var addresses: [UInt64] {
            (0..<Self.limit).map { UInt64(return_address_at(found, $0)) }.filter { $0 != 0 }
        }

        #if compiler(<6.3) || compiler(>=6.4)
            package var place: String? { nil }
        #endif
    }
#endif
