import Futures
import Testing

/// A function's name in place of a closure.
struct PointFreeTests {
    private final class Client {
        let loop: EventLoop

        init(_ loop: EventLoop) { self.loop = loop }

        func download(_ name: String) -> Future<[UInt8]> { loop.succeeded(Array(name.utf8)) }
        func refuse(_ name: String) throws -> Future<[UInt8]> { throw Failure(name.count) }
        func count(_ bytes: [UInt8]) -> Int { bytes.count }
        func retry(_ name: String, times: Int = 3) -> Future<String> {
            loop.succeeded(String(repeating: name, count: times))
        }
        func look(_ name: String) throws(Refusal) -> TypedFuture<Int, Refusal> {
            guard !name.isEmpty else { throw .refused }
            return .succeeded(name.count, on: loop)
        }
        func wait() -> Future<Void> { loop.sleep(for: .zero) }
    }

    @Test("methods and functions are given by their names to flatMap and map", arguments: Driver.allCases)
    func untyped(driver: Driver) throws {
        try withLoop(driver) { loop in
            let client = Client(loop)
            let name = loop.succeeded("abc")
            try expect(name.flatMap(client.download).map(client.count), succeedsWith: 3)
            expect(name.flatMap(client.refuse), failsWith: Failure(3))
            try expect(name.map(\.count).map(String.init), succeedsWith: "3")
            try expect(loop.succeeded().flatMap(client.wait).map { 1 }, succeedsWith: 1)
        }
    }

    @Test(
        "a function with default arguments is given by a closure, which leaves them to it",
        arguments: Driver.allCases)
    func defaults(driver: Driver) throws {
        try withLoop(driver) { loop in
            let client = Client(loop)
            try expect(loop.succeeded("a").flatMap { client.retry($0) }, succeedsWith: "aaa")
        }
    }

    @Test("methods with typed throws are given by their names to a typed flatMap", arguments: Driver.allCases)
    func typed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let client = Client(loop)
            func name(_ text: String) -> TypedFuture<String, Refusal> { .succeeded(text, on: loop) }
            try expect(name("abc").flatMap(client.look), completesAs: "success: 3")
            try expect(name("").flatMap(client.look), completesAs: "failure: refused")
            try expect(name("ab").map(\.count).map(String.init), completesAs: "success: 2")
            try expect(name("ab").flatMap(name).recover(\.localizedName), completesAs: "success: ab")
        }
    }
}

extension Refusal {
    fileprivate var localizedName: String { "\(self)" }
}
