internal import Futures

/// The limits of a ``ConnectionPool``.
public struct PoolLimits: Sendable {
    /// The largest number of connections, lent and idle.
    public var maxConnections = 16
    /// The largest number of requests that wait for a connection. A further request fails with
    /// ``PoolError/tooManyWaiting(_:)``.
    public var maxWaiting = 1000
    /// The longest time for which a request waits until a connection is free. The time to connect does not count.
    public var waitTimeout: Duration? = .seconds(30)
    /// The time after which an unused connection is closed.
    public var idleTimeout: Duration = .seconds(60)

    public init() {}

    func validate() throws {
        try requireArgument(
            maxConnections > 0 && maxWaiting >= 0,
            "maxConnections must be at least 1 and maxWaiting at least 0, not \(maxConnections) and \(maxWaiting)"
        )
        for case (let name, let duration?) in [("waitTimeout", waitTimeout), ("idleTimeout", idleTimeout)] {
            try requirePositive(name, duration)
        }
    }
}

/// An error of a ``ConnectionPool``.
public enum PoolError: Error, Hashable {
    /// The request got no connection within this time, the ``PoolLimits/waitTimeout``.
    case noneFree(after: Duration)
    /// This many requests already wait for a connection.
    case tooManyWaiting(Int)
}

extension PoolError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noneFree(let limit):
            "no connection of the pool was free within \(limit); give connections back sooner, or raise "
                + "PoolLimits.maxConnections"
        case .tooManyWaiting(let count):
            "\(count) requests wait for a connection of the pool already; try again later, or raise "
                + "PoolLimits.maxWaiting"
        }
    }
}
