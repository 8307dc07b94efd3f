import CNode
import UVFutures

extension Addon {
    /// What the addon exports.
    var functions: [(String, Body)] {
        [
            ("delay", delay), ("soon", soon), ("twice", twice), ("callLater", callLater), ("ticker", ticker),
            ("countTickers", countTickers), ("primes", primes), ("connect", connect), ("listen", listen),
            ("close", close), ("setTurnBudget", setTurnBudget), ("startChain", startChain),
            ("countSteps", countSteps), ("readFile", readFile), ("watchFile", watchFile), ("run", run),
        ]
    }

    /// `delay(milliseconds, value) -> promise` of the value
    private func delay(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let held = Held(arguments[1], self)
        let slept = loop.sleep(for: .milliseconds(try number(arguments[0])))
        return try promise(for: slept.map { held }, \.value)
    }

    /// `soon(number) -> promise` of the number
    private func soon(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let number = try number(arguments[0])
        return try promise(for: loop.submit { number }, value)
    }

    /// `twice(promise) -> promise` of twice the number
    private func twice(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let doubled = future(of: arguments[0]).map { [self] held in
            try enter { try 2 * number(held.value) } ?? 0
        }
        return try promise(for: doubled, value)
    }

    /// `callLater(function, withoutScope)`: what it throws is an uncaught exception, as in a callback of Node's.
    private func callLater(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let function = Held(arguments[0], self)
        var withoutScope = false
        napi_get_value_bool(env, arguments[1], &withoutScope)
        loop.later { [self] in
            if withoutScope { return callWithoutScope(function) }
            enter {
                do { try call(function.value) } catch { napi_fatal_exception(env, value(error)) }
            }
        }
        return nil
    }

    /// As it should not be done: what waits for promises in JavaScript goes on waiting.
    private func callWithoutScope(_ function: Held) {
        var handles: napi_handle_scope?
        napi_open_handle_scope(env, &handles)
        defer { napi_close_handle_scope(env, handles) }
        _ = try? call(function.value)
    }

    /// `ticker(milliseconds, function) -> ticker`
    private func ticker(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        try Ticker.make(self, every: .milliseconds(number(arguments[0])), arguments[1])
    }

    private func countTickers(_: napi_value?, _: [napi_value?]) -> napi_value? { value(Double(tickers)) }

    /// `primes(limit) -> promise`, of an asynchronous function
    private func primes(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let (limit, loop) = (try wholeNumber(arguments[0]), loop)
        return try promise(
            for: Future(on: loop) { try await Double(countPrimes(below: limit, on: loop)) }, value)
    }

    /// `connect(port) -> promise` of the port, to which a connection is made and closed
    private func connect(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        let port = try wholeNumber(arguments[0])
        let connected = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
        return try promise(
            for: connected.map { connection in
                connection.close()
                return Double(port)
            }, value)
    }

    /// `listen() ->` the port of an echo server, by TCP and UDP
    private func listen(_: napi_value?, _: [napi_value?]) throws -> napi_value? {
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { chunk in connection.write(chunk) }
        }
        self.server = server
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: server.localAddress.port, on: loop)
        socket.forEachDatagram { bytes, header in socket.send(bytes, to: header.source) }.ignoreFailure()
        datagrams = socket
        return value(Double(server.localAddress.port))
    }

    /// `close()`: no new connections, no more datagrams, and no more changes of a file
    private func close(_: napi_value?, _: [napi_value?]) -> napi_value? {
        server?.close()
        datagrams?.close()
        watch?.close()
        return nil
    }

    // MARK: Work without end

    /// `setTurnBudget(callbacks)`
    private func setTurnBudget(_: napi_value?, _ arguments: [napi_value?]) throws -> napi_value? {
        loop.turnBudget = try wholeNumber(arguments[0])
        return nil
    }

    /// `startChain()`: goes on until the environment ends, and keeps the processor busy.
    private func startChain(_: napi_value?, _: [napi_value?]) -> napi_value? {
        func step() -> Future<Void> {
            steps += 1
            return loop.submit {}.flatMap(step)
        }
        step().ignoreFailure()
        return nil
    }

    private func countSteps(_: napi_value?, _: [napi_value?]) -> napi_value? { value(Double(steps)) }
}
