// The part of the C interface that reads and watches files, and runs programs, on the loop of the program that calls it.
import UVFutures

/// What C gets: its own pointer, a code, which is -1 after an error, and a text.
typealias Done =
    @convention(c) (_ data: UnsafeMutableRawPointer?, _ code: CInt, _ text: UnsafePointer<CChar>) -> Void

extension EchoLibrary {
    func read(_ path: String) -> Future<String> {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return Directory.open("\(path[..<slash])/", on: loop).flatMap { directory in
            directory.contents(of: String(path[slash...].dropFirst()), limit: 1 << 20)
        }
        .map { $0.text }
    }

    /// Calls `changed` for each change of a file, and completes when it is watched. The watch ends with the loop.
    func watch(_ path: String, _ changed: @escaping (String) -> Void) -> Future<Void> {
        FileWatch.watch(file: path, debounce: .zero, on: loop).map { watch in
            watch.onChange { changed("\($0)") }
        }
    }

    func run(_ program: String, _ argument: String) -> Future<(code: CInt, output: String)> {
        ChildProcess.run(.init(program, argument), on: loop).map { outcome in
            guard case .code(let code) = outcome.exit else { throw FutureError.message("\(outcome.exit)") }
            return (code, outcome.standardOutput.text)
        }
    }
}

extension Future {
    /// Calls `done` with the code and the text that `convert` makes of the value, or with -1 and the error.
    fileprivate func tell(
        _ done: @escaping Done, _ data: UnsafeMutableRawPointer?,
        _ convert: @escaping (Value) -> (code: CInt, output: String)
    ) {
        nonisolated(unsafe) let data = data
        whenComplete { result in
            // The loop that is detached fails what is pending: its host has freed what `data` points to.
            if case .failure(FutureError.shutDown) = result { return }
            let (code, text) =
                switch result {
                case .success(let value): convert(value)
                case .failure(let error): (-1, "\(error)")
                }
            text.withCString { done(data, code, $0) }
        }
    }
}

@c(echo_read_file) public func echoReadFile(
    _ library: UnsafeMutableRawPointer, _ path: UnsafePointer<CChar>,
    _ done: @escaping @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>) -> Void,
    _ data: UnsafeMutableRawPointer?
) {
    EchoLibrary.from(library).read(String(cString: path)).tell(done, data) { (0, $0) }
}

@c(echo_watch_file) public func echoWatchFile(
    _ library: UnsafeMutableRawPointer, _ path: UnsafePointer<CChar>,
    _ changed: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> Void,
    _ done: @escaping @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>) -> Void,
    _ data: UnsafeMutableRawPointer?
) {
    EchoLibrary.from(library).watch(String(cString: path)) { change in
        change.withCString { changed(data, $0) }
    }
    .tell(done, data) { (0, "") }
}

@c(echo_run) public func echoRun(
    _ library: UnsafeMutableRawPointer, _ program: UnsafePointer<CChar>, _ argument: UnsafePointer<CChar>,
    _ done: @escaping @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>) -> Void,
    _ data: UnsafeMutableRawPointer?
) {
    EchoLibrary.from(library).run(String(cString: program), String(cString: argument)).tell(done, data) { $0 }
}
