// Loads and parses a configuration; every way to fail is a case that the compiler checks.
import UVFutures

enum ConfigError: Error {
    case missing(file: String)
    case syntax(line: Int)
    case badPort(String)
    case storage(any Error)
}

struct NoSuchFile: Error { let name: String }
struct DiskOnFire: Error {}

let files = [
    "good": "host = localhost\nport = 8080",
    "typo": "host = localhost\nport 8080",
    "huge": "port = 99999",
]

func read(_ name: String, on loop: EventLoop) -> Future<String> {
    loop.sleep(for: .milliseconds(1)).map {
        if name == "fire" { throw DiskOnFire() }
        guard let text = files[name] else { throw NoSuchFile(name: name) }
        return text
    }
}

func parse(_ text: String) throws(ConfigError) -> [String: String] {
    var entries: [String: String] = [:]
    for (index, line) in text.split(separator: "\n").enumerated() {
        let parts = line.split(separator: " ")
        guard parts.count == 3, parts[1] == "=" else { throw .syntax(line: index + 1) }
        entries[String(parts[0])] = String(parts[2])
    }
    return entries
}

func port(in entries: [String: String]) throws(ConfigError) -> UInt16 {
    guard let port = entries["port"].flatMap(UInt16.init) else { throw .badPort(entries["port"] ?? "") }
    return port
}

func load(_ name: String, on loop: EventLoop) -> TypedFuture<UInt16, ConfigError> {
    read(name, on: loop)
        .typed(ConfigError.self) { error in
            if let error = error as? NoSuchFile { .missing(file: error.name) } else { .storage(error) }
        }
        .map(parse)
        .map(port)
}

let loop = EventLoop.main
for name in ["good", "typo", "huge", "none", "fire"] {
    let text = load(name, on: loop).map { "port \($0)" }.recover { failure in
        switch failure {
        case .missing(let file): "there is no file \(file)"
        case .syntax(let line): "syntax error in line \(line)"
        case .badPort(let text): "\(text) is no port"
        case .storage(let error): "cannot read: \(error)"
        }
    }
    print("\(name): \(try loop.run(until: text.erased))")
}
