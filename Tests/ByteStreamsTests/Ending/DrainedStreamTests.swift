import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What a draining server does with a connection on which nothing has come yet, and what its handler meets then.
struct DrainedStreamTests {
    enum State: CaseIterable {
        case reads, readsAll, loops, greetsAndReads, hasAnswered
        case doesNotRead, readsAndWrites, hasQueued, keepsOpen, answers, hasUnread

        var isIdle: Bool { [.reads, .readsAll, .loops, .greetsAndReads, .hasAnswered].contains(self) }

        func begin(_ stream: ByteStream, _ transport: ScriptedTransport, _ loop: EventLoop) {
            switch self {
            case .readsAll: stream.readToEnd().ignoreFailure()
            case .loops: stream.forEachChunk { _ in }.ignoreFailure()
            case .greetsAndReads: stream.write("hello")
            case .hasQueued:
                transport.room = 0
                stream.write("hello")
            case .keepsOpen: stream.endsWhenIdle = false
            case .answers: stream.answering(loop.sleep(for: .seconds(100)))
            case .hasAnswered: stream.answering(loop.succeeded())
            case .hasUnread:
                stream.read(exactly: 1).ignoreFailure()
                transport.deliver("ab")
            case .reads, .readsAndWrites, .doesNotRead: break
            }
            if ![.readsAll, .loops, .doesNotRead].contains(self) { stream.readLine().ignoreFailure() }
            if self == .readsAndWrites { stream.write("news") }
        }
    }

    @Test(
        "it is half-closed if its handler waits for the first message, and does nothing else",
        arguments: State.allCases)
    func halfClosed(state: State) {
        withStream { stream, transport, loop in
            state.begin(stream, transport, loop)
            loop.advance(by: .zero)
            stream.beginDraining()
            stream.endIfIdle(fresh: true)
            #expect(transport.shutdowns == (state.isIdle ? 1 : 0))
            #expect(stream.isDraining && stream.draining.succeeded)
            loop.advance(by: .seconds(100))
        }
    }

    @Test("an answer that has ended lets it be half-closed")
    func afterAnswer() {
        withStream { stream, transport, loop in
            stream.answering(loop.sleep(for: .seconds(1)))
            stream.readLine().ignoreFailure()
            stream.endIfIdle(fresh: true)
            #expect(transport.shutdowns == 0)
            loop.advance(by: .seconds(1))
            stream.endIfIdle(fresh: true)
            #expect(transport.shutdowns == 1)
        }
    }

    @Test(
        "the first write that loses bytes is reported, and its connection is ended in order",
        arguments: [0, 1])
    func cut(count: Int) {
        withStream { stream, transport, loop in
            stream.readLine().ignoreFailure()
            stream.endIfIdle(fresh: true)
            #expect(stream.write("").streamError == .drained && !stream.wasCut)
            #expect(stream.write([Data()]).streamError == .drained && !stream.wasCut)
            if count > 0 {
                #expect(stream.write("x").streamError == .drained && stream.wasCut)
                // Not reported.
                stream.write("y")
            }
            #expect(stream.shutdownWrite().isCompleted == false)
            stream.endFailed()
            #expect(transport.wasReset == (count > 0 ? nil : true))
        }
    }

    @Test("a stream that ends before its server drains never hears of that")
    func neverDrained() {
        withStream { stream, transport, loop in
            let draining = stream.draining
            stream.close()
            transport.finishClose()
            loop.advance(by: .zero)
            #expect(draining.wasCancelled)
        }
    }

    @Test("a stream that drains a second time, as a member of a scope, stays half-closed")
    func twice() {
        withStream { stream, transport, loop in
            stream.readLine().ignoreFailure()
            stream.beginDraining()
            stream.endIfIdle(fresh: true)
            #expect(transport.shutdowns == 1)
            stream.beginDraining()
            #expect(stream.write("x").streamError == .drained && stream.wasCut)
        }
    }

    @Test("the scope of a stream that drains already drains, too")
    func scope() {
        withStream { stream, transport, loop in
            stream.beginDraining()
            #expect(stream.scope.isDraining)
            loop.advance(by: .zero)
        }
    }
}
