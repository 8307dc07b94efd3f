/// The reason why bytes are no message of HTTP/1.1, or one that is refused.
///
/// The text says what is wrong and what to send instead. After an error, nobody knows where the next message would begin:
/// answer with ``status``, and close the connection.
public enum HTTPError: String, Error, Hashable, Sendable, CaseIterable {
    // Lines.
    case bareLineFeed
    case lineTooLong
    case targetTooLong
    case headTooLong
    case tooManyFields
    // The first line.
    case badMethod
    case badTarget
    case badVersion
    case unsupportedVersion
    case badStatus
    case badRequestLine
    case notForServers
    // Fields.
    case foldedLine
    case badFieldName
    case spaceBeforeColon
    case missingColon
    case badFieldValue
    // What the fields say.
    case missingHost
    case repeatedHost
    case badHost
    case badContentLength
    case repeatedContentLength
    case bodyTooLong
    case contentLengthAndTransferEncoding
    case repeatedTransferEncoding
    case badTransferEncoding
    case unknownTransferEncoding
    case oldTransferEncoding
    case unknownExpectation
    // Bodies.
    case badChunkSize
    case badChunkExtension
    case chunkExtensionsTooLong
    case badChunkEnd
    case forbiddenTrailer
    case unexpectedEnd

    /// The status with which a server answers.
    public var status: Int {
        switch self {
        case .targetTooLong: 414
        case .lineTooLong, .headTooLong, .tooManyFields: 431
        case .bodyTooLong: 413
        case .unknownExpectation: 417
        case .unknownTransferEncoding: 501
        case .unsupportedVersion: 505
        default: 400
        }
    }
}

extension HTTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .bareLineFeed: "a line ends in LF alone; end each line with CR LF"
        case .lineTooLong: "a line of the head is too long; send shorter fields"
        case .targetTooLong: "the first line is too long; send a shorter target, and the rest as a body"
        case .headTooLong: "the head is too long; send fewer or shorter fields"
        case .tooManyFields: "there are too many fields; send fewer"
        case .badMethod: "the method has a character that is no letter, digit or one of !#$%&'*+-.^_`|~"
        case .badTarget:
            "the target is empty, has the wrong form for its method, or a character that must be escaped"
        case .badVersion: "the first line does not end in a version, such as HTTP/1.1"
        case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are spoken here"
        case .badStatus: "the status is not of three digits, from 100 to 599"
        case .badRequestLine:
            "the first line is not a method, a target and a version with one space between them"
        case .notForServers:
            "a response came where a request was expected; a peer may have taken this side for a client"
        case .foldedLine: "a line begins with a space or a tab; send each field on one line"
        case .badFieldName: "the name of a field is empty, or has a character that no name may have"
        case .spaceBeforeColon: "there is a space between the name of a field and its colon; remove it"
        case .missingColon: "a line of the head has no colon; send fields as name: value"
        case .badFieldValue: "the value of a field has a control character, such as CR or NUL"
        case .missingHost: "there is no Host field, which HTTP/1.1 demands"
        case .repeatedHost: "there are several Host fields; send one"
        case .badHost: "the Host field is no host with or without a port"
        case .badContentLength: "the Content-Length is not a number of decimal digits that fits"
        case .repeatedContentLength: "there are several Content-Length fields; send one"
        case .bodyTooLong: "the body is longer than is allowed here; send less at a time"
        case .contentLengthAndTransferEncoding:
            "there are a Content-Length and a Transfer-Encoding, so the end of the body is in doubt; send one of them"
        case .repeatedTransferEncoding: "there are several Transfer-Encoding fields; send one"
        case .badTransferEncoding:
            "the last transfer coding is not chunked, so nothing tells the end of the body"
        case .unknownTransferEncoding:
            "a transfer coding is not known here; send the body chunked and nothing else"
        case .oldTransferEncoding: "a message of HTTP/1.0 has a Transfer-Encoding; send it as HTTP/1.1"
        case .unknownExpectation: "the only expectation that can be met is 100-continue"
        case .badChunkSize: "the size of a chunk is not a number of hexadecimal digits that fits"
        case .badChunkExtension: "an extension of a chunk is not ;name, ;name=token or ;name=\"text\""
        case .chunkExtensionsTooLong: "the extensions of the chunks are too long; send none"
        case .badChunkEnd: "a chunk has more bytes than its size says, or does not end in CR LF"
        case .forbiddenTrailer:
            "a field behind the body says how the message is framed, or for whom it is; send it in the head"
        case .unexpectedEnd: "the peer finished sending in the middle of a message"
        }
    }
}
