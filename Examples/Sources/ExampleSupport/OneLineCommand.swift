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
            exit(
                withError: exitCode(for: error).isSuccess ? error : Refusal(description: message(for: error)))
        }
    }
}

/// Why a program does not do what it was asked for.
public struct Refusal: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Prints a line at once, also into a pipe.
public func say(_ line: String) {
    print(line)
    fflush(nil)
}
