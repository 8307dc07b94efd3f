import Glibc
import Greeter
import UVFutures

@main struct Daemon {
    static func main() async {
        do { try await serve() } catch {
            // One line on standard error. An error that `main` throws would end the program with a crash report.
            let line = Array("daemon: \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(1)
        }
    }

    static func serve() async throws {
        let arguments = CommandLine.arguments
        let port = arguments.count > 1 ? Int(arguments[1]) ?? 7007 : 7007
        let server = try greetClients(host: "127.0.0.1", port: port, on: .main, report: say)
        say("listening on \(server.localAddress)")
        // At a signal, nobody new is served, and those who are have 30 s to end.
        say("\(try await server.drain(on: .terminate, .interrupt, within: .seconds(30)).value)")
    }
}

/// Prints a line at once. In a service, `print` alone keeps what it has until that is some kilobytes.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
