public import ArgumentParser

/// A reason not to run, which takes one line.
public struct Refusal: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

extension ParsableCommand {
    /// Runs the command. Whatever is wrong takes one line, without the usage.
    public static func runOrSayWhy() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            exit(withError: exitCode(for: error).isSuccess ? error : Refusal(message(for: error)))
        }
    }
}
