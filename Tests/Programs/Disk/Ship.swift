// Writes each line of a log that it follows to its standard output, with the place behind it, and begins at a place.
// usage: Ship LOG [PLACE]
import FoundationEssentials
import UVFutures

let loop = EventLoop.main
let place = try CommandLine.arguments.dropFirst(2).first.map {
    try JSONDecoder().decode(FollowStream.Position.self, from: Data($0.utf8))
}
let output = try loop.standardOutput()

@MainActor func ship(_ log: FollowStream) -> Future<Void> {
    log.readLine().flatMap { line in
        let place = String(decoding: try JSONEncoder().encode(log.position), as: UTF8.self)
        return output.write("\(place) \(String(decoding: line!, as: UTF8.self))\n").flatMap { ship(log) }
    }
}

let start = place.map { File.FollowStart.position($0) } ?? .beginning
let shipped = File.follow(CommandLine.arguments[1], from: start, on: loop).flatMap { log in
    log.onLoss { output.write("lost: \($0)\n") }
    return ship(log)
}
try loop.run(until: shipped)
