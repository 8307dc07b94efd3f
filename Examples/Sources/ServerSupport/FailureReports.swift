public import TLSStreams

/// A limit for the lines about connections that break: one a minute for each reason, as ``TLSServer`` has it for handshakes.
public final class FailureReports {
    private let loop: EventLoop
    private var paces: [String: FutureTokenBucket] = [:]

    public init(on loop: EventLoop) { self.loop = loop }

    /// Returns whether `error` is to be said.
    public func admits(_ error: any Error) -> Bool {
        let reason = "\(type(of: error)) \((error as? SystemError)?.code.name ?? "")"
        let pace = paces[reason] ?? FutureTokenBucket(rate: 1, per: .seconds(60), burst: 1, on: loop)
        paces[reason] = pace
        return pace.tryTake()
    }
}
