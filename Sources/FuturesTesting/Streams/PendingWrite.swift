internal import ByteStreams
internal import FoundationEssentials

/// The rest of a `write` of a transport that has not completed yet.
struct PendingWrite {
    private var rest: [Data] = []
    private(set) var isWaiting = false
    private(set) var failure: (any Error)?

    var byteCount: Int { rest.totalCount }

    mutating func begin(_ buffers: [Data]) {
        rest = buffers
        isWaiting = true
    }

    /// Writes as much as `tryWrite` takes now. Returns `true` when the write has completed, with `failure`: when all
    /// bytes are written, or when `tryWrite` has thrown an error.
    mutating func goOn(_ tryWrite: ([Data]) throws -> Int) -> Bool {
        guard isWaiting else { return false }
        do {
            rest = rest.dropping(try tryWrite(rest))
            isWaiting = !rest.isEmpty
        } catch {
            failure = error
            isWaiting = false
        }
        return !isWaiting
    }

    /// Drops the bytes, because the transport has been closed.
    mutating func drop() { rest = [] }
}
