// Replaces the contents of the file `a` in a directory, durably, and says how that ended.
// usage: Replace DIRECTORY
import FoundationEssentials
import UVFutures

let loop = EventLoop.main
let replaced = Directory.open(CommandLine.arguments[1], on: loop).flatMap { directory in
    directory.replace("a", with: Data("new".utf8)).map { _ in directory }
}
do {
    try loop.run(until: replaced.flatMap { $0.close() })
    print("replaced")
} catch {
    print(error)
}
