import Testing
import UVFutures

struct DatagramErrorTests {
    @Test(
        "an error says what happened and what to do",
        arguments: [
            (
                DatagramError.socketClosed,
                "the socket was closed on this side; send and receive before close()"
            ),
            (
                .receivePending,
                "another receive() or forEachDatagram is pending on this socket, and forEachDatagram takes "
                    + "all datagrams; wait for it or cancel it first"
            ),
            (
                .tooLong(size: 70_000, limit: 65_507),
                "a datagram of 70000 bytes cannot be sent: the limit is 65507; send it in parts"
            ),
            (
                .queueFull(queued: 900, limit: 1000),
                "the datagram was not sent: 900 bytes wait to be sent, and no more than 1000 may; wait "
                    + "for the futures of "
                    + "send, or for writable"
            ),
        ])
    func text(error: DatagramError, text: String) { #expect("\(error)" == text) }
}
