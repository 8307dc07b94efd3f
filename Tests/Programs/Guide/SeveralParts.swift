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
    case hang = "a part ignores the drain"
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

@MainActor func watchSettings() async throws {
    let watch = try await FileWatch.watch(directory: "settings", on: loop).value
    defer { watch.close() }
    say("watching")
    for try await change in watch.changes { say("changed: \(change.path)") }
}

@MainActor func followFeed(_ scope: FutureScope) async throws {
    while true {
        let feed = try await loop.retry(attempts: 5) { _ in
            TCPConnection.connect(host: "127.0.0.1", port: feedPort, on: loop)
        }.value
        scope.add(feed.closed.recover { _ in })
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

/// A part that ignores the drain, and whose clean-up takes its time.
@MainActor func hang() async throws {
    do { try await loop.sleep(for: .seconds(60)).value } catch {
        try await loop.shielded(within: .seconds(1)) { try await loop.sleep(for: .milliseconds(10)).value }
        say("the part that hangs has been cancelled")
        throw error
    }
}

/// A part whose clean-up fails.
@MainActor func cleanUp() async throws {
    do { try await loop.sleep(for: .seconds(60)).value } catch { throw Silence() }
}

let forgotten: Future<Void>? = way == .forgotten ? Future(on: loop) { throw Silence() } : nil
var status: CInt = 0
do {
    try loop.runScope(within: way == .hang ? .milliseconds(200) : .seconds(30)) { scope in
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            for try await question in connection.lines() {
                try await connection.write("\(question.text): \(latest)\n").value
            }
        }
        say("\(server.localAddress.port)")
        scope.add(server)
        for part in [watchSettings, expectNews] { scope.run(onDrain: .cancel, part) }
        let feed = scope.run(onDrain: way == .order ? .goOn : .cancel) { try await followFeed(scope) }
        if way == .order { server.ended.whenSuccess { feed.cancel() } }
        if way == .hang { scope.run(hang) }
        if way == .cleanUp { scope.run(onDrain: .cancel, cleanUp) }
        scope.draining.whenSuccess { say("ending") }
    }
} catch {
    print("a part has failed: \(error)")
    status = 1
}
say("each part has ended")
exit(status)
