public import Futures
public import Testing

/// Numbers that public calls take. `edges` are those at which a call may forget that they exist.
public protocol NumberWithEdges: Comparable {
    static var edges: [Self] { get }
}

extension Int: NumberWithEdges {
    public static let edges: [Int] = [.min, -1, 0, 1, 2, 3, 255, 256, 65_535, 65_536, .max - 1, .max]
}

extension Int32: NumberWithEdges {
    public static let edges: [Int32] = [.min, -1, 0, 1, 64, 65, .max]
}

extension UInt32: NumberWithEdges {
    public static let edges: [UInt32] = [0, 1, 0o777, 0o1000, 0o7777, 0o10000, .max]
}

extension Double: NumberWithEdges {
    public static let edges: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1, -.ulpOfOne, 0, .leastNonzeroMagnitude, 1, 1 + .ulpOfOne,
        .greatestFiniteMagnitude, .infinity, .nan,
    ]
}

extension Duration: NumberWithEdges {
    public static let edges: [Duration] = [
        .seconds(Int64.min), .seconds(-1), .nanoseconds(-1), .zero, .nanoseconds(1), .seconds(1),
        .seconds(Int64.max),
    ]
}

/// Expects that `call` refuses the numbers outside of `valid` at once, with a sentence that says what to give, and takes
/// all others. A future that it returns is refused if it has failed by then.
public func expectRefused<Number: NumberWithEdges, Value>(
    _ what: String, outside valid: some RangeExpression<Number>,
    sourceLocation: SourceLocation = #_sourceLocation, by call: (Number) throws -> Value
) {
    for number in Number.edges {
        var failure: (any Error)?
        do { failure = (try call(number) as? any Failing)?.takeFailure() } catch { failure = error }
        var text: String?
        if case .invalidArgument(let sentence)? = failure as? FutureError { text = sentence }
        if valid.contains(number) {
            #expect(text == nil, "\(what) \(number)", sourceLocation: sourceLocation)
        } else {
            let saysWhat = text.map {
                $0.contains("give") || $0.contains("ask for") || $0.contains(" must be ")
            }
            #expect(saysWhat == true, "\(what) \(number)", sourceLocation: sourceLocation)
        }
    }
}

private protocol Failing {
    func takeFailure() -> (any Error)?
}

extension Future: Failing {
    /// The error with which the future has failed. Cancels it if it waits.
    fileprivate func takeFailure() -> (any Error)? {
        guard case .failure(let error)? = ignoreFailure().result else {
            cancel(.evenIfOthersWaiting)
            return nil
        }
        return error
    }
}
