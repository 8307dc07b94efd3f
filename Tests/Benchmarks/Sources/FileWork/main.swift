// What files cost us: copies of a file to a connection, and small reads at random positions.
//
// Usage: FileWork copy|pieces FILE PORT
//        FileWork reads FILE COUNT
// Prints the processor time of the process in nanoseconds, from the open file to the end.

import FoundationEssentials
import Glibc
import UVFutures

let arguments = CommandLine.arguments
guard arguments.count == 4, let number = Int(arguments[3]) else {
    print("usage: FileWork copy|pieces FILE PORT, or FileWork reads FILE COUNT")
    exit(2)
}

func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Reads pieces of 64 KiB, and writes each when the one before has left.
func copyPieces(of file: File, to connection: TCPConnection) -> Future<Int> {
    func goOn(_ offset: Int) -> Future<Int> {
        file.read(atMost: 65_536, at: offset).flatMap { bytes -> Future<Int> in
            guard !bytes.isEmpty else { return connection.loop.succeeded(offset) }
            return connection.write(bytes).flatMap { goOn(offset + bytes.count) }
        }
    }
    return goOn(0)
}

/// Reads 100 bytes at a time, 16 reads at once.
func readMany(of file: File, _ size: Int, on loop: EventLoop) -> Future<Int> {
    loop.traverse(0..<number, maxConcurrent: 16) { index in
        file.read(atMost: 100, at: index &* 7919 % (size - 100))
    }
    .map { $0.reduce(0) { $0 + $1.count } }
}

let loop = EventLoop.main
let path = arguments[2].split(separator: "/", omittingEmptySubsequences: false)
let directory = try loop.run(until: Directory.open(path.dropLast().joined(separator: "/"), on: loop))
let file = try loop.run(until: directory.open(String(path.last!)))
let size = try loop.run(until: file.information()).size
let count: Int
let start: Int
if arguments[1] == "reads" {
    start = processorTime()
    count = try loop.run(until: readMany(of: file, size, on: loop))
} else {
    let connection = try loop.run(until: TCPConnection.connect(host: "127.0.0.1", port: number, on: loop))
    start = processorTime()
    let copied = arguments[1] == "copy" ? file.copy(to: connection) : copyPieces(of: file, to: connection)
    count = try loop.run(until: copied)
    try loop.run(until: connection.close())
}
let time = processorTime() - start
guard count == (arguments[1] == "reads" ? 100 * number : size) else { fatalError("only \(count) bytes") }
print(time)
