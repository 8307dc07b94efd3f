// As Idle.swift, by an asynchronous main.
import Glibc
import UVFutures

func say(_ word: String) { write(2, word + "\n", word.utf8.count + 1) }

@concurrent func elsewhere() async {}

@main struct Program {
    static func main() async throws {
        let loop = EventLoop.main
        await elsewhere()
        try await loop.sleep(for: .milliseconds(1)).value
        say("idle")
        let start = clock()
        try await loop.sleep(for: .milliseconds(Int(CommandLine.arguments[2])!)).value
        let taken = (clock() - start) / 1000
        say("over")
        print(taken)
    }
}
