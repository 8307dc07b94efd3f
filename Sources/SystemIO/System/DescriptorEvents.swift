internal import CFuturesSystem
internal import Glibc

/// The events of a watched descriptor.
public struct DescriptorEvents: OptionSet, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// A read does not have to wait: there are bytes, or the end of the stream, or a connection to accept.
    public static let readable = DescriptorEvents(rawValue: 1)
    /// A write does not have to wait.
    public static let writable = DescriptorEvents(rawValue: 2)
    /// The peer has finished sending or has disconnected.
    public static let disconnected = DescriptorEvents(rawValue: 4)
    /// There is urgent data, such as the out-of-band bytes of a TCP socket.
    public static let prioritized = DescriptorEvents(rawValue: 8)
    /// The next read or write will fail, and its error says why. This event comes even if you did not ask for
    /// it, and wakes all code that waits for any event.
    public static let failed = DescriptorEvents(rawValue: 16)

    /// The events that can be asked for.
    static let all: DescriptorEvents = [.readable, .writable, .disconnected, .prioritized]
}

extension DescriptorEvents: CustomStringConvertible {
    /// The names of the events, such as `readable, writable`, or `nothing` if the set is empty.
    public var description: String {
        let names: [(DescriptorEvents, String)] = [
            (.readable, "readable"), (.writable, "writable"), (.disconnected, "disconnected"),
            (.prioritized, "prioritized"), (.failed, "failed"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "nothing" : present.joined(separator: ", ")
    }
}

/// Returns the events that `poll` reports for a descriptor now: `POLLIN`, `POLLHUP`, `POLLERR`.
package func events(of descriptor: CInt) -> CInt {
    var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&asked, 1, 0) > 0 ? CInt(asked.revents) : 0
}
