import FoundationEssentials
import Glibc
import UVFutures

/// Writes a line at the end of a file.
func append(_ line: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw Told("open") }
    defer { close(descriptor) }
    if write(descriptor, line, line.utf8.count) != line.utf8.count { throw Told("write") }
}

/// Takes changes up to the one that tells of `path`.
@MainActor func change(of path: String, in watch: FileWatch) async throws -> String {
    while true {
        let change = try await watch.next().value
        if change.kind == .lookAgain { throw Told("look again") }
        if change.path == path { return "done" }
    }
}

@MainActor let watchKinds: [String: (EventLoop) throws -> Work] = [
    "fileWatch": { loop in
        let name = newName()
        let watch = FileWatch.watch(file: "\(folder)/\(name)", debounce: .zero, on: loop)
        return Work {
            watch.flatMap { watch in
                let told = Future(on: loop) { try await change(of: name, in: watch) }
                do {
                    try append("a line\n", to: "\(folder)/\(name)")
                } catch {
                    told.cancel()
                    throw error
                }
                return told
            }
        } end: {
            watch.flatMap { $0.close() }.ignoreFailure()
        }
    },
    "treeWatch": { loop in
        let tree = "\(folder)/\(newName())"
        if mkdir(tree, 0o700) != 0 { throw Told("mkdir") }
        let watch = FileWatch.watch(tree: tree, debounce: .milliseconds(1), on: loop)
        return Work {
            let name = newName()
            return watch.flatMap { watch in
                // It is watched before what is in it is told.
                if mkdir("\(tree)/\(name)", 0o700) != 0 { throw Told("mkdir") }
                try append("a line\n", to: "\(tree)/\(name)/x")
                return Future(on: loop) { try await change(of: "\(name)/x", in: watch) }
            }
        } end: {
            watch.flatMap { $0.close() }.ignoreFailure()
        }
    },
    "follow": { loop in
        let path = "\(folder)/\(newName())"
        try append("a line\n", to: path)
        let stream = File.follow(path, from: .beginning, on: loop)
        return Work {
            stream.flatMap { stream in
                try append("a line\n", to: path)
                return stream.readLine().map { done($0 == Data("a line".utf8)) }
            }
        } end: {
            stream.flatMap { $0.close() }.ignoreFailure()
        }
    },
]
