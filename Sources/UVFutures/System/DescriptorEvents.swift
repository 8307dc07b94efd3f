/// The events of a watched descriptor.
public struct DescriptorEvents: OptionSet, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// A read would not have to wait: there are bytes, or the end of the stream, or a connection to accept.
    public static let readable = DescriptorEvents(rawValue: 1)
    /// A write would not have to wait.
    public static let writable = DescriptorEvents(rawValue: 2)
    /// The peer has finished sending, or is gone.
    public static let disconnected = DescriptorEvents(rawValue: 4)
    /// There are out-of-band bytes, or other data that the kind of descriptor treats as urgent.
    public static let prioritized = DescriptorEvents(rawValue: 8)
    /// The next read or write will fail, and its error tells what is wrong. You need not ask for this event. This
    /// event comes together with all the events that were asked for.
    public static let failed = DescriptorEvents(rawValue: 16)

    /// The events that can be asked for.
    static let all: DescriptorEvents = [.readable, .writable, .disconnected, .prioritized]
}

extension DescriptorEvents: CustomStringConvertible {
    /// The names of the events, such as `readable, writable`. `nothing` if the set is empty.
    public var description: String {
        let names: [(DescriptorEvents, String)] = [
            (.readable, "readable"), (.writable, "writable"), (.disconnected, "disconnected"),
            (.prioritized, "prioritized"), (.failed, "failed"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "nothing" : present.joined(separator: ", ")
    }
}
