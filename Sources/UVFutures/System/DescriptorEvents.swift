/// The events of a descriptor that is watched.
public struct DescriptorEvents: OptionSet, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// A read would not wait: there are bytes, or the end, or a connection to accept.
    public static let readable = DescriptorEvents(rawValue: 1)
    /// A write would not wait.
    public static let writable = DescriptorEvents(rawValue: 2)
    /// The peer has finished sending, or is gone.
    public static let disconnected = DescriptorEvents(rawValue: 4)
    /// There are out-of-band bytes, or other data that the kind of descriptor treats as urgent.
    public static let prioritized = DescriptorEvents(rawValue: 8)
    /// The next read or write will fail, and tells what is wrong. Need not be asked for, and comes together with all
    /// events that were.
    public static let failed = DescriptorEvents(rawValue: 16)

    /// The events that can be asked for.
    static let all: DescriptorEvents = [.readable, .writable, .disconnected, .prioritized]
}

extension DescriptorEvents: CustomStringConvertible {
    /// Like `readable, writable`; `nothing` if there are none.
    public var description: String {
        let names: [(DescriptorEvents, String)] = [
            (.readable, "readable"), (.writable, "writable"), (.disconnected, "disconnected"),
            (.prioritized, "prioritized"), (.failed, "failed"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "nothing" : present.joined(separator: ", ")
    }
}
