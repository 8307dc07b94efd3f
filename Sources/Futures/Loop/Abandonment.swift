/// The objects of a loop that the loop checks for having been abandoned.
final class Abandonment {
    var watches: [UInt64: PromiseAttachments] = [:]
    var lastNumber: UInt64 = 0
    /// The producers of released `never()` futures. Only the consumers of these futures are left.
    var orphanages = Fifo<Forever>()
    /// Whether `watches` or `orphanages` may have members. Stored, since a look into them is checked at run
    /// time.
    var isWatched = false
}
