import Foundation
import Glibc
import TestSupport
import Testing
import UVFutures

/// A configuration that has a shell run `script`.
func shell(_ script: String) -> ChildProcess.Configuration { .init("/bin/sh", "-c", script) }

extension EventLoop {
    /// What `script` writes to its standard output, in lines.
    func lines(of configuration: ChildProcess.Configuration) throws -> [String] {
        let outcome = try run(until: ChildProcess.run(configuration, on: self))
        #expect(outcome.isSuccess, "\(outcome)")
        return String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func lines(of script: String) throws -> [String] { try lines(of: shell(script)) }

    /// How a program ends that is started with `configuration`.
    func exit(of configuration: ChildProcess.Configuration) throws -> ChildProcess.Exit {
        try run(until: ChildProcess.start(configuration, on: self).exit)
    }
}

extension EventLoop {
    /// Makes a program of `text` at `path`. Another process writes it: a child that another thread forks meanwhile would
    /// have it open for writing, and then it could not be executed.
    func makeProgram(_ text: String, at path: String) throws {
        _ = try lines(of: "printf '%s' '\(text)' > \(path); chmod 755 \(path)")
    }
}

/// Whether this process has no child at all: no zombie either. Of use only where no other test runs: in an exit test.
func hasNoChild() -> Bool { waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD }

/// The state of a process as the kernel writes it, such as `S`, `T` or `Z`. `nil` if there is no such process.
func state(of process: Int32) -> Character? {
    contents("/proc/\(process)/stat")?.split(separator: ")").last?.dropFirst().first
}

/// Runs `body` with the path of a new directory, which is removed afterwards.
func withDirectory(_ body: (String) throws -> Void) throws {
    let path = "/tmp/uvfutures-\(UInt64.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}

/// The open descriptors, without those that loops and Dispatch make for themselves, at any time.
func descriptorsInUse() -> Set<CInt> { openDescriptors().filter { !link($0).contains("event") } }

/// Fails if other descriptors than those stay open: other threads open some for a moment.
func expectNoMore(than before: Set<CInt>, sourceLocation: SourceLocation = #_sourceLocation) {
    let isSo = eventually { descriptorsInUse().isSubset(of: before) }
    #expect(isSo, "\(links(descriptorsInUse().subtracting(before)))", sourceLocation: sourceLocation)
}

/// What a descriptor stands for.
private func link(_ descriptor: CInt) -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
}

/// What they stand for, for a failure to say.
func links(_ descriptors: Set<CInt>) -> String {
    descriptors.map { "\($0) \(link($0))" }.joined(separator: ", ")
}
