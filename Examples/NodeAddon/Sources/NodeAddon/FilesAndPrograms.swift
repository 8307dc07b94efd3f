import CNode
import UVFutures

extension Addon {
    /// `readFile(directory, name) -> promise` of the text
    func readFile(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let (path, name) = (text(arguments[0]), text(arguments[1]))
        let contents = Directory.open(path, on: loop).flatMap { $0.contents(of: name) }
        return try promise(for: contents.map { String(decoding: $0, as: UTF8.self) }, string)
    }

    /// `watchFile(path, function) -> promise`: the file is watched from then on, and `function` is called with each change.
    func watchFile(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let function = Held(arguments[1], self)
        let watching = FileWatch.watch(file: text(arguments[0]), on: loop).map { [self] watch in
            self.watch = watch
            watch.onChange { [self] change in
                enter { try? call(function.value, string("\(change)")) }
            }
        }
        return try promise(for: watching) { [self] in value(0) }
    }

    /// `run(program, argument) -> promise` of the output
    func run(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let outcome = ChildProcess.run(.init(text(arguments[0]), text(arguments[1])), on: loop)
        let output = outcome.map { String(decoding: try $0.requireSuccess().standardOutput, as: UTF8.self) }
        return try promise(for: output, string)
    }
}
