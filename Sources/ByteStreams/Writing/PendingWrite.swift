package import FoundationEssentials

/// The rest of a `write` of a transport that has not completed yet.
package struct PendingWrite {
    private var rest: [Data] = []
    /// Whether the write has not completed yet.
    package private(set) var isWaiting = false
    /// The error because of which the write failed.
    package private(set) var failure: (any Error)?

    package init() {}

    /// The number of bytes that have not been written.
    package var byteCount: Int { rest.totalCount }

    /// Begins a write of `buffers`.
    package mutating func begin(_ buffers: [Data]) {
        rest = buffers
        isWaiting = true
    }

    /// Writes as much as `tryWrite` takes now. Returns `true` when the write has completed, with `failure`: when all
    /// bytes are written, or when `tryWrite` has thrown an error.
    package mutating func goOn(_ tryWrite: ([Data]) throws -> Int) -> Bool {
        guard isWaiting else { return false }
        do {
            rest = rest.dropping(try tryWrite(rest))
            isWaiting = !rest.isEmpty
        } catch {
            failure = error
            rest = []
            isWaiting = false
        }
        return !isWaiting
    }

    /// Drops the bytes, because the transport has been closed.
    package mutating func drop() { rest = [] }
}
