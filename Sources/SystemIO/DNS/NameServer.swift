internal import Futures

/// A name server, and what recent queries have shown about it.
final class NameServer {
    let address: SocketAddress
    /// The time until which the server is asked after all others.
    private var silentUntil: LoopInstant?
    var warnings = ReportLimit()

    init(_ address: SocketAddress) { self.address = address }

    /// How long a server is asked after all others, once it has given no answer.
    static let silence = Duration.seconds(30)

    func gaveNoAnswer(at now: LoopInstant) { silentUntil = now.advanced(by: Self.silence) }

    func answered() { silentUntil = nil }

    func isSilent(at now: LoopInstant) -> Bool { silentUntil.map { now < $0 } ?? false }
}

/// The reason why a name server gave no useful answer.
struct NameServerFailure: Error {
    /// The reason, including the server, as in "10.0.0.1:53 failed (SERVFAIL)".
    let text: String
    /// Whether the server did not answer at all, so that it is asked again.
    var isSilence = false
}
