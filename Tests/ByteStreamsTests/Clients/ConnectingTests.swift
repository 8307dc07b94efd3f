import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct ConnectingTests {
    @Test("a server that cannot be reached is tried again after waits that grow")
    func backoff() throws {
        let backoff = Backoff.exponential(initial: .seconds(1), maximum: .seconds(5), jitter: 0)
        try withClient(backoff: backoff, refusal: Broken()) { client, server, loop in
            #expect(client.state == .waiting && client.lastError is Broken)
            loop.advance(by: .seconds(17))
            let start = server.attempts[0]
            #expect(
                server.attempts.map { start.duration(to: $0) } == [0, 1, 3, 7, 12, 17].map { .seconds($0) })
            #expect(client.statistics.failedConnects == 6 && client.statistics.connects == 0)
        }
    }

    @Test("the waits are changed at random, so that clients do not come together")
    func jitter() throws {
        var seen: Set<Duration> = []
        for _ in 0..<20 {
            let backoff = Backoff.exponential(initial: .seconds(10), jitter: 0.5)
            try withClient(backoff: backoff, refusal: Broken()) { client, server, loop in
                loop.advance(by: .milliseconds(4_999))
                #expect(server.attempts.count == 1)
                loop.advance(by: .seconds(11))
                #expect(server.attempts.count >= 2)
                seen.insert(server.attempts[0].duration(to: server.attempts[1]))
            }
        }
        #expect(seen.count > 10)
    }

    @Test(
        "a connection that was of no use counts as a failure, and one that was does not",
        arguments: [true, false])
    func usefulness(isUseful: Bool) throws {
        let backoff = Backoff.exponential(initial: .seconds(1), maximum: .seconds(64), jitter: 0)
        try withClient(backoff: backoff) { client, server, loop in
            for number in 0..<4 {
                #expect(client.state == .connected)
                if isUseful {
                    let answer = client.send(Data("a;"))
                    settle(loop)
                    server.ends[number].write("1;")
                    settle(loop)
                    #expect(answer.now == "1")
                }
                server.ends[number].abort()
                settle(loop)
                #expect(client.state == .waiting)
                let wait = isUseful ? 1 : 1 << number
                loop.advance(by: .seconds(wait) - .milliseconds(1))
                #expect(client.state == .waiting)
                loop.advance(by: .milliseconds(1))
            }
        }
    }

    @Test(
        "a connection that lasts as long as the longest wait, or brings a message that is pushed, was of use",
        arguments: ["lasts", "pushes", "ends early"])
    func lasting(what: String) throws {
        let backoff = Backoff.exponential(initial: .seconds(1), maximum: .seconds(4), jitter: 0)
        let push = { (_: String) in true }
        try withClient(backoff: backoff, push: push) { client, server, loop in
            for number in 0..<2 {
                #expect(client.state == .connected)
                switch what {
                case "pushes": server.ends[number].write("news;")
                case "lasts": loop.advance(by: .seconds(4))
                default: loop.advance(by: .seconds(4) - .milliseconds(1))
                }
                settle(loop)
                server.ends[number].abort()
                settle(loop)
                let wait = what == "ends early" ? 1 << number : 1
                loop.advance(by: .seconds(wait) - .milliseconds(1))
                #expect(client.state == .waiting)
                loop.advance(by: .milliseconds(1))
            }
            #expect(client.state == .connected)
        }
    }

    @Test(
        "a greeting is given up when its connection ends, and when the client is closed",
        arguments: [false, true])
    func greetingIsCancelled(closes: Bool) throws {
        var promises: [Promise<Void>] = []
        var cancelled = 0
        let greeting = { (connection: PipelinedConnection<String>) -> Future<Void> in
            let promise = connection.stream.loop.makePromise(of: Void.self)
            promise.onCancelRequest {
                cancelled += 1
                return .cancel
            }
            promises.append(promise)
            return promise.future
        }
        try withClient(greeting: greeting) { client, server, loop in
            if closes { client.close() } else { server.ends[0].abort() }
            settle(loop)
            #expect(cancelled == 1)
            client.close()
            promises = []
        }
    }

    @Test("the greeting comes before all requests, on each connection")
    func greeting() throws {
        let greeting = { (connection: PipelinedConnection<String>) in
            connection.send(Data("hello;")).flatMap { answer in
                #expect(answer == "welcome")
                return connection.send(Data("select;")).map { _ in }
            }
        }
        try withClient(greeting: greeting) { client, server, loop in
            let answer = client.send(Data("a;"), mayRepeat: true)
            for number in 0..<2 {
                settle(loop)
                #expect(server.received[number] == "hello;" && client.state == .connecting)
                server.ends[number].write("welcome;")
                settle(loop)
                #expect(server.received[number] == "hello;select;")
                server.ends[number].write("ok;")
                settle(loop)
                #expect(server.received[number] == "hello;select;a;" && client.state == .connected)
                if number == 0 {
                    server.ends[0].abort()
                    loop.advance(by: .seconds(1))
                }
            }
            server.ends[1].write("1;")
            settle(loop)
            #expect(answer.now == "1")
        }
    }

    @Test(
        "a greeting that fails, throws or takes too long ends the connection",
        arguments: ["fails", "throws", "hangs", "peer"])
    func badGreeting(how: String) throws {
        let greeting = { (connection: PipelinedConnection<String>) throws -> Future<Void> in
            switch how {
            case "fails": return connection.stream.loop.failed(Broken())
            case "throws": throw Broken()
            case "hangs": return connection.stream.loop.never()
            default: return connection.send(Data("hello;")).map { _ in }
            }
        }
        try withClient(greeting: greeting) { client, server, loop in
            let request = client.send(Data("a;"))
            if how == "hangs" { loop.advance(by: .milliseconds(9_999)) }
            if how == "hangs" || how == "peer" { #expect(client.state == .connecting) }
            if how == "hangs" { loop.advance(by: .milliseconds(1)) }
            if how == "peer" { server.ends[0].abort() }
            settle(loop)
            #expect(client.state == .waiting && client.statistics.failedConnects == 1)
            switch how {
            case "hangs": #expect(client.lastError as? FutureError == .timedOut(after: .seconds(10)))
            case "peer": #expect(client.lastError?.isDisconnection == true)
            default: #expect(client.lastError is Broken)
            }
            #expect(server.ends[0].closed.isCompleted && !request.isCompleted)
            #expect(!server.received[0].contains("a;"))
            loop.advance(by: .seconds(1))
            #expect(server.attempts.count == 2)
            request.cancel()
        }
    }

    @Test("a connect that is cancelled by others is tried again")
    func cancelledConnect() throws {
        try withClient(isSilent: true) { client, server, loop in
            server.silent[0].cancel()
            settle(loop)
            #expect(client.state == .waiting && client.lastError is CancellationError)
            loop.advance(by: .seconds(1))
            #expect(server.attempts.count == 2)
        }
    }

    @Test("closing gives up a connect, and ends a connection that comes all the same")
    func closedWhileConnecting() throws {
        try withClient(isSilent: true) { client, server, loop in
            client.close()
            #expect(server.cancelledConnects == 1)
            settle(loop)
            #expect(client.closed.succeeded)
            #expect(server.attempts.count == 1)
        }
        try withClient(isSilent: true) { client, server, loop in
            server.silent[0].succeed(try server.makePair())
            client.close()
            settle(loop)
            #expect(server.ends[0].closed.isCompleted)
        }
    }

    @Test("without limits of time, a greeting takes as long as it takes, and a request waits for it")
    func unlimited() throws {
        var limits = PipelineLimits()
        (limits.greetingTimeout, limits.waitTimeout) = (nil, nil)
        var greeted: Promise<Void>?
        let greeting = { (connection: PipelinedConnection<String>) -> Future<Void> in
            greeted = connection.stream.loop.makePromise()
            return greeted!.future
        }
        try withClient(limits: limits, greeting: greeting) { client, server, loop in
            let answer = client.send(Data("a;"))
            loop.advance(by: .seconds(86_400))
            #expect(client.state == .connecting && !answer.isCompleted)
            greeted?.succeed()
            greeted = nil
            settle(loop)
            server.ends[0].write("1;")
            settle(loop)
            #expect(answer.now == "1" && server.attempts.count == 1)
        }
    }
}
