public import ByteStreams
import Foundation
public import UVFutures

extension Hall {
    /// Serves a connection of lines. Completes when it ends, whoever ends it.
    public func serveLines(_ connection: ByteStream, from address: SocketAddress? = nil) -> Future<Void> {
        // What is said to a member in a turn leaves in one write.
        connection.gathersWrites = true
        let output = Member.Output {
            connection.write($0 + "\n")
        } end: {
            connection.close(within: .seconds(2))
        }
        let member = Member(in: self, connection, output, from: address?.description)
        return Future<Void>(on: loop) {
            for try await line in connection.lines(limit: Member.longestLine) {
                guard let text = String(validating: line, as: UTF8.self) else {
                    member.say("! a line that is no UTF-8 is not passed on")
                    continue
                }
                try await member.take(text).value
            }
        }
        .recover { error in
            if let error = error as? StreamError, case .limitExceeded(let limit) = error {
                member.say("! a line has at most \(limit) bytes")
            } else if !(error is Member.Ended), error as? StreamError != .connectionClosed {
                throw error
            }
        }
        .always { member.leave() }
    }
}
