// The daemon of several parts, as its guide has it. The program starts itself for each way in which the daemon may end, does to
// it what the way says, and prints what the daemon has said, with its exit status.
import FoundationEssentials
import Glibc
import UVFutures

enum Way: String, CaseIterable {
    case signal = "a signal"
    case directory = "the watched directory is removed"
    case feed = "the feed is closed"
    case silence = "the feed is silent"
    case hang = "a part does not end"
    case cleanUp = "a part fails in its clean-up"
    case order = "a signal, and the feed is followed until the clients have ended"
    case forgotten = "a part that has failed, and nobody looks at it"
}

let loop = EventLoop.main

// MARK: What happens to it

@MainActor final class Trial {
    let way: Way
    let place = String(cString: mkdtemp(strdup("/tmp/parts-XXXXXX")))
    /// The connections of the daemon to its feed.
    var feeds: [TCPConnection] = []
    var heard: [String] = []

    init(_ way: Way) { self.way = way }

    func run() async throws {
        print("\(way.rawValue):")
        let feed = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            self.feeds.append(connection)
            if self.way != .silence { connection.write("old news\n") }
            for try await line in connection.lines() { self.heard.append(line.text) }
        }
        feed.onConnectionError = { _ in }
        let directory = try await Directory.open(place, on: loop).value
        try await directory.makeDirectory("settings").value

        let feedPort = feed.localAddress.port
        var configuration = ChildProcess.Configuration("/proc/self/exe", way.rawValue, "\(feedPort)")
        configuration.workingDirectory = place
        configuration.standardOutput = .stream
        configuration.standardError = .standardOutput
        let daemon = try ChildProcess.start(configuration, on: loop)
        let output = daemon.standardOutput!
        let port = Int(try await output.readLine().unwrap().value.text)!
        for _ in ["watching", "following"] { _ = try await output.readLine().value }

        switch way {
        case .signal, .order, .hang, .cleanUp, .forgotten:
            try await directory.replace("settings/colour", with: Data("red".utf8)).value
            _ = try await output.readLine().value
            try await ask(port) {
                try daemon.send(.terminate)
                while let line = try await output.readLine().value?.text, line != "ending" {
                    print("  the daemon says: \(line)")
                }
            }
        case .directory: try await directory.removeTree("settings").value
        case .feed:
            feed.close()
            for feed in feeds { feed.abort() }
        case .silence: break
        }
        for try await line in output.lines() {
            print("  the daemon says: \(line.text.replacing(":\(feedPort)", with: ""))")
        }
        print("  \(try await daemon.exit.value)")
        _ = try await feed.drain(within: .seconds(10)).value
        print("  the feed has heard \(heard)")
        if way != .directory { try await directory.removeTree("settings").value }
        try await directory.close().value
        rmdir(place)
    }

    /// Asks the daemon for the news, ends it in the middle of another question, and completes this question.
    func ask(_ port: Int, end: () async throws -> Void) async throws {
        let client = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).value
        try await client.write("news").value
        try await ask(client, for: "old news")
        try await end()
        if way == .order {
            try await feeds[0].write("new news\n").value
            try await ask(client, for: "new news")
        }
        try await client.write("\n").value
        print("  a client reads: \(try await client.readToEnd().value.text)", terminator: "")
        try await client.close().value
    }

    /// Completes a question and begins another, until the answer is `news`.
    func ask(_ client: TCPConnection, for news: String) async throws {
        var answer: String?
        while answer != "news: \(news)" {
            try await client.write("\nnews").value
            answer = try await client.readLine().unwrap().value.text
        }
    }
}

// MARK: The daemon

struct Silence: Error {}

guard CommandLine.arguments.count == 3, let way = Way(rawValue: CommandLine.arguments[1]),
    let feedPort = Int(CommandLine.arguments[2])
else {
    try loop.run(until: Future(on: loop) { for way in Way.allCases { try await Trial(way).run() } })
    exit(0)
}

var latest = "nothing yet"
var heard = loop.now

/// Prints a line at once, since the other side waits for it.
@MainActor func say(_ line: String) {
    print(line)
    fflush(nil)
}

let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
    for try await question in connection.lines() {
        try await connection.write("\(question.text): \(latest)\n").value
    }
}
say("\(server.localAddress.port)")

@MainActor func watchSettings() async throws {
    let watch = try await FileWatch.watch(directory: "settings", on: loop).value
    defer { watch.close() }
    say("watching")
    for try await change in watch.changes { say("changed: \(change.path)") }
}

@MainActor func followFeed() async throws {
    while true {
        let feed = try await loop.retry(attempts: 5) { _ in
            TCPConnection.connect(host: "127.0.0.1", port: feedPort, on: loop)
        }.value
        say("following")
        do {
            defer {
                feed.write("bye\n")
                feed.close()
            }
            for try await line in feed.lines() { (latest, heard) = (line.text, loop.now) }
        } catch let error where error.isDisconnection {}
        try await loop.sleep(for: .seconds(1)).value
    }
}

@MainActor func expectNews() async throws {
    let limit: Duration = way == .silence ? .seconds(1) : .seconds(60)
    for try await now in loop.ticks(every: .milliseconds(10))
    where heard.duration(to: now) > limit { throw Silence() }
}

/// A part whose clean-up does not end.
@MainActor func hang() async throws {
    _ = try await loop.never(of: Int.self).ignoringCancellation().value
}

/// A part whose clean-up fails.
@MainActor func cleanUp() async throws {
    do { try await loop.sleep(for: .seconds(60)).value } catch { throw Silence() }
}

/// A part that says each of its failures itself.
@MainActor func told(_ part: @escaping @MainActor () async throws -> Void) -> Future<Void> {
    Future(on: loop) {
        do { try await part() } catch {
            if !(error is CancellationError) { print("a part has said: \(error)") }
            throw error
        }
    }
}

let forgotten: Future<Void>? = way == .forgotten ? Future(on: loop) { throw Silence() } : nil
var parts = [watchSettings, followFeed, expectNews].map { Future(on: loop, $0) }
if way == .hang { parts.append(Future(on: loop, hang)) }
if way == .cleanUp { parts.append(told(cleanUp)) }
let signals = [ProcessSignal.terminate, .interrupt].map { loop.signal($0) }

var status: CInt = 0
let first = Future.race((way == .order ? parts.map { $0.ignoringCancellation() } : parts) + signals)
do { try loop.run(until: first) } catch {
    print("a part has failed: \(error)")
    status = 1
}
let drained = server.drain(within: .seconds(30))
say("ending")
print(try loop.run(until: drained))
if way == .order { for part in parts { part.cancel(.evenIfOthersWaiting) } }
loop.schedule(after: way == .hang ? .milliseconds(100) : .seconds(30), keepsLoopAlive: false) {
    say("a part has not ended")
    exit(2)
}
try loop.run()
say("each part has ended")
exit(status)
