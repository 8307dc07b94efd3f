// Starts a program, and says its output, or why it was not started; and whether a child or a descriptor is left.
import Glibc
import UVFutures

@main struct Start {
    static func main() throws {
        // libuv keeps a pipe for signals from the first loop on.
        try EventLoop().shutdown()
        let before = openDescriptors()
        let loop = try EventLoop()
        do {
            let outcome = try loop.run(until: ChildProcess.run(.init("/bin/echo", "started"), on: loop))
            print(String(decoding: outcome.standardOutput, as: UTF8.self), terminator: "")
        } catch {
            print(error)
        }
        loop.shutdown()
        print(waitpid(-1, nil, WNOHANG) == -1 ? "no child is left" : "a child is left")
        print(openDescriptors() == before ? "no descriptor is left" : "a descriptor is left")
    }

    private static func openDescriptors() -> [CInt] { (0..<64).filter { fcntl($0, F_GETFD) >= 0 } }
}
