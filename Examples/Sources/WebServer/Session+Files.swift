import Glibc
import HTTP1
import TLSStreams

extension Session {
    /// The size up to which a file is read into memory, and leaves in one write with its head.
    private static var smallSize: Int { 65_536 }

    /// Answers with the file at the path behind `/files/`.
    func file(_ head: RequestHead, below root: Directory) -> Future<Void> {
        guard let path = head.decodedPath else {
            return respond(400, text: "the path has a broken escape, or is no UTF-8")
        }
        // Not by characters: an accent would be one with the slash before it.
        var name = String(path.unicodeScalars.dropFirst("/files/".count))
        if name.isEmpty || name.hasSuffix("/") { name += "index.html" }
        guard !name.hasPrefix("/") else { return respond(404, text: "there is no such file") }
        return root.open(name)
            .flatMap { [self] file in
                file.information().flatMap { try self.send(file, $0, head, ContentType.of(name)) }.always {
                    file.close()
                }
            }
            .flatMapError { [self] error in try refuse(error, head) }
    }

    private func send(
        _ file: File, _ information: FileInformation, _ head: RequestHead, _ type: StaticString
    ) throws -> Future<Void> {
        let modified = Int(information.modified.timeIntervalSince1970.rounded(.down))
        let tag =
            "\"\(information.inode)-\(information.size)-\(Int(information.modified.timeIntervalSince1970 * 1e6))\""
        let validators = Validators(tag: tag, modified: HTTPDate(seconds: modified))
        if validators.isNotModified(head.fields) {
            return respondWithoutBody(304) { $0.field("ETag", tag) }
        }
        let size = information.size
        // Only a GET has ranges.
        let mayBePart = head.method == .get && validators.allowsRange(head.fields)
        let range = mayBePart ? ByteRange(head.fields["range"], of: size) : .everything
        guard range != .unsatisfiable else {
            return respond(
                416, text: "the file has \(size) bytes", [("Content-Range", "bytes */\(size)")])
        }
        var wanted = 0..<size
        if case .part(let part) = range { wanted = part }

        site.begin(status: range == .everything ? 200 : 206)
        site.writer.lines("Content-Type: ")
        site.writer.lines(type)
        site.writer.lines("\r\nAccept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\n")
        site.writer.field("ETag", tag)
        site.writer.field("Last-Modified", "\(validators.modified)")
        if range != .everything {
            site.writer.field("Content-Range", "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(size)")
        }
        writeConnectionLine()
        site.writer.endHead(bodyBytes: wanted.count)
        hasBegun = true
        send()
        guard head.method == .get, !wanted.isEmpty else { return connection.writable }
        return file.copy(to: connection, from: wanted.lowerBound, count: wanted.count).map { sent in
            guard sent == wanted.count else { throw Shortened(missing: wanted.count - sent) }
        }
    }

    /// Answers with the status that says why there is no file.
    private func refuse(_ error: any Error, _ head: RequestHead) throws -> Future<Void> {
        guard !hasBegun else { throw error }
        guard let code = (error as? FileError)?.code else {
            if error as? FutureError != nil { return respond(400, text: "the path is none of a file") }
            throw error
        }
        switch code {
        case .isDirectory:
            let query = head.query.map { "?" + $0 } ?? ""
            return respond(301, text: "this is a directory", [("Location", head.path + "/" + query)])
        case .notFound, .notDirectory, .notSupported, .crossesDirectory, .nameTooLong, .noDevice:
            return respond(404, text: "there is no such file")
        case .permissionDenied, .tooManyLinks: return respond(403, text: "the file may not be read")
        default: return respond(503, text: "the file cannot be read now")
        }
    }

    /// The file was cut off while it was sent: the client must not take what it got for the whole.
    private struct Shortened: Error { let missing: Int }
}

extension SystemError.Code {
    /// A name of the path, or all of it, is longer than the system lets it be.
    fileprivate static let nameTooLong = Self(rawValue: -ENAMETOOLONG)
    /// The file is a socket.
    fileprivate static let noDevice = Self(rawValue: -ENXIO)
}

enum ContentType {
    /// Returns the media type of a file, by the end of its name.
    static func of(_ name: String) -> StaticString {
        switch name.split(separator: ".").last?.lowercased() {
        case "html", "htm": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "json": "application/json"
        case "txt", "md", "log": "text/plain; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "ico": "image/x-icon"
        case "wasm": "application/wasm"
        case "pdf": "application/pdf"
        case "woff2": "font/woff2"
        case "mp4": "video/mp4"
        case "xml": "application/xml"
        default: "application/octet-stream"
        }
    }
}
