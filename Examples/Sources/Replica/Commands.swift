import ArgumentParser
import ExampleSupport
import Foundation
import UVFutures

@main
struct Commands: OneLineCommand {
    static let configuration = CommandConfiguration(
        commandName: "Replica", abstract: "Keeps a counter on several hosts, of which some may fail.",
        discussion: """
            To try it with three replicas, run in three terminals, with --id 0, 1 and 2 and a file for each:
              Replica serve --id 0 --file replica-0 --member 127.0.0.1:7010 127.0.0.1:7011 127.0.0.1:7012
            and, while you stop and start any one of them:
              Replica add 5 --member 127.0.0.1:7010 127.0.0.1:7011 127.0.0.1:7012
            Whoever reaches a port may change the counter.
            """,
        subcommands: [Serve.self, Add.self, Get.self])
}

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs one of the replicas, until SIGINT or SIGTERM.")

    @OptionGroup var group: Group

    @Option(help: "Which of the members this is: 0 is the first.")
    var id: Int

    @Option(help: "The file that keeps what this replica must not forget.")
    var file: String

    @Option(help: "A mistake to make: \(Mistake.allCases.map(\.rawValue).joined(separator: ", ")).")
    var mistake: Mistake?

    func validate() throws {
        guard group.members.indices.contains(id) else {
            throw ValidationError("there is no member \(id); the first of \(group.members.count) is 0")
        }
    }

    func run() throws {
        let loop = EventLoop.main
        let url = URL(fileURLWithPath: file)
        let saved = try read(url)
        let replica = Replica(id, of: group.members, saved: saved, on: loop, mistake: mistake) { text in
            try replace(url, with: text)
        }
        let member = group.members[id]
        let server = try replica.serve(host: member.host, port: member.port)
        say("listening on \(server.localAddress)")
        let summary = try loop.run(until: server.drain(on: .interrupt, .terminate, within: .zero))
        loop.shutdown()
        print("after the signal \(summary)")
    }

    private func read(_ url: URL) throws -> Saved {
        guard FileManager.default.fileExists(atPath: url.path) else { return Saved() }
        guard let saved = Saved(try String(contentsOf: url, encoding: .utf8)) else {
            throw Refusal("\(file) is no file of a replica; name another one")
        }
        return saved
    }
}

/// Replaces a file, so that after a loss of power it has the old text or the new one. The new one is on the disk on
/// return.
private func replace(_ url: URL, with text: String) throws {
    let new = url.appendingPathExtension("new")
    try Data(text.utf8).write(to: new)
    try synchronize(new.path)
    guard rename(new.path, url.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try synchronize(url.deletingLastPathComponent().path)
}

private func synchronize(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    guard descriptor >= 0, fsync(descriptor) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds an amount, and prints the sum.")

    @OptionGroup var group: Group

    @Argument(help: "What to add; behind -- it may be negative.")
    var amount: Int

    func validate() throws {
        guard Replica.amounts.contains(amount) else {
            throw ValidationError(
                "an amount of \(amount) is too large; give at most \(Replica.amounts.upperBound)")
        }
    }

    func run() throws { try group.ask { $0.add(amount) } }
}

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the sum.")

    @OptionGroup var group: Group

    func run() throws { try group.ask { $0.get() } }
}

/// The replicas.
struct Group: ParsableArguments {
    @Option(
        name: .customLong("member"), parsing: .upToNextOption,
        help: "The replicas, in the same order for all: HOST:PORT …")
    var members: [Member]

    func validate() throws {
        guard !members.isEmpty else { throw ValidationError("name the replicas: --member HOST:PORT …") }
        for member in members { try TCPConnection.checkTarget(host: member.host, port: member.port) }
    }

    func ask(_ request: (Client) -> Future<Int>) throws {
        let loop = EventLoop.main
        do {
            print(try loop.run(until: request(Client(of: members, attempts: 50, on: loop))))
        } catch {
            throw Refusal("no leader among the replicas answers: \(error)")
        }
        loop.shutdown()
    }
}

extension Member: ExpressibleByArgument {
    init?(argument: String) {
        guard let address = HostAndPort(argument: argument) else { return nil }
        self.init(host: address.host, port: address.port)
    }
}
