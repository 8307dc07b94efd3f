import ArgumentParser
import Glibc

/// A program whose complaints take one line each, without the usage.
public protocol OneLineCommand: ParsableCommand {}

extension OneLineCommand {
    public static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let isQuiet = error is ExitCode || exitCode(for: error).isSuccess
            exit(withError: isQuiet ? error : Refusal(message(for: error)))
        }
    }
}

/// Why a program does not do what it was asked for.
public struct Refusal: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Prints a line at once, also into a pipe.
public func say(_ line: String) {
    print(line)
    fflush(nil)
}
