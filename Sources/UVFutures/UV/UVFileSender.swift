internal import Futures
internal import SystemIO

/// A copy of the descriptor of a libuv stream, through which files are sent past libuv.
final class UVFileSender: FileSender {
    let socket: SendingSocket
    private let driver: UVLoop
    private var poll: UVPoll?

    init(_ descriptor: CInt, on driver: UVLoop) {
        socket = SendingSocket(descriptor)
        self.driver = driver
    }

    func whenWritable(_ body: @escaping () -> Void) {
        let loop = driver.eventLoop
        guard let poll = try? poll ?? UVPoll.watch(socket.number, on: driver) else {
            // The next call of `sendfile` finds out what is wrong.
            return loop.later(on: .nextTurn, body)
        }
        self.poll = poll
        poll.onEvents = { [unowned poll] _ in
            poll.setInterest([])
            loop.turn(body)
        }
        poll.setInterest(.writable)
    }

    func close() {
        poll?.closeWatch()
        poll = nil
        socket.close()
    }
}

extension UVStream {
    final func makeFileSender() throws(SystemError) -> (any FileSender)? {
        if isAdopted, let lost { throw error(lost, "sendfile") }
        return UVFileSender(try duplicate(), on: driver)
    }
}
