internal import Futures

/// A socket that systemd has opened for this process.
public struct ActivatedSocket: Hashable, Sendable {
    /// The first descriptor that systemd passes. Descriptors 0 to 2 are standard input, output and error.
    private static let firstDescriptor: Int32 = 3
    /// The largest number of sockets that `parse` accepts. No process has that many.
    private static let maximumCount = 65_536

    public let descriptor: Int32
    /// The name of the socket, from `FileDescriptorName=` of the socket's unit. If systemd passed no names, the
    /// name is `unknown`.
    public let name: String

    public init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Returns the sockets that the environment variables describe. `process` is the value of `LISTEN_PID`, `count` is
    /// that of `LISTEN_FDS`, and `names` is that of `LISTEN_FDNAMES`. A value is `nil` if the variable is not set.
    package static func parse(
        process: String?, count: String?, names: String?, ownProcess: Int32
    ) throws -> [ActivatedSocket] {
        guard process != nil || count != nil else { return [] }
        func refusal(_ text: String) -> FutureError { .invalidArgument(text) }
        guard let process, let target = process.decimal, target > 0 else {
            throw refusal(
                "LISTEN_PID must be a process id, but is \(quoted(process)), so the sockets belong to no process"
            )
        }
        guard target == Int(ownProcess) else {
            throw refusal(
                "LISTEN_PID is \(target), and this process is \(ownProcess): the sockets are meant for another one; "
                    + "start this program without a shell or a wrapper in between")
        }
        guard let count, let number = count.decimal, number <= maximumCount else {
            throw refusal("LISTEN_FDS must be a number of descriptors, but is \(quoted(count))")
        }
        var all = [String](repeating: "unknown", count: number)
        if let names {
            let parts = names.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            all = names.isEmpty && number == 0 ? [] : parts.map { String(decoding: $0, as: UTF8.self) }
            guard all.count == number else {
                throw refusal(
                    "LISTEN_FDNAMES has \(all.count) names for \(number) descriptors: \(quoted(names))")
            }
            if let name = all.first(where: { !isName($0) }) {
                throw refusal("LISTEN_FDNAMES has \(quoted(name)), which is not a valid name of a descriptor")
            }
        }
        return all.enumerated().map { ActivatedSocket(descriptor: firstDescriptor + Int32($0), name: $1) }
    }

    /// Returns whether systemd allows `name`: at most 255 printable ASCII bytes.
    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= 255 && name.utf8.allSatisfy { (32..<127).contains($0) }
    }
}

extension ActivatedSocket: CustomStringConvertible {
    /// The socket in one line, such as `socket "http" of systemd (descriptor 3)`.
    public var description: String { "socket \"\(name)\" of systemd (descriptor \(descriptor))" }
}

/// Returns `text` in quotes, on one line, and truncated if it is long. Returns `not set` for `nil`.
private func quoted(_ text: String?) -> String {
    guard let text else { return "not set" }
    return text.utf8.count <= 200 ? text.debugDescription : String(text.prefix(100)).debugDescription + "…"
}

extension String {
    /// The text as a decimal number. `nil` if the text is empty, is longer than 18 characters, or has a character that
    /// is not a decimal digit.
    var decimal: Int? {
        guard !utf8.isEmpty, utf8.count <= 18, utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(self)
    }
}
