internal import FoundationEssentials

extension FileHandle {
    private static var portion: Int { 1 << 20 }

    /// Reads the whole file. Throws `FileError` if there are more than `limit` bytes.
    func readAll(limit: Int, _ name: FileName) throws -> Data {
        let size = try information().size
        guard size <= limit else { throw tooLarge(limit, name) }
        // One byte more detects the end. Files in /proc report no size, but have contents.
        var all = try read(min(size + 1, Self.portion), at: 0)
        guard !all.isEmpty else { return all }
        while all.count <= limit {
            let rest = try read(min(max(1, size + 1 - all.count), Self.portion), at: all.count)
            if rest.isEmpty { return all }
            all.append(rest)
        }
        throw tooLarge(limit, name)
    }

    private func tooLarge(_ limit: Int, _ name: FileName) -> FileError {
        FileError(
            "read", name, .fileTooLarge, "read",
            advice: "it has more than \(limit) bytes; give a higher limit, or read it in parts")
    }

    func writeAll(_ bytes: Data, at offset: Int, _ name: FileName) throws {
        try writeRest(bytes, "write", name) { bytes, written throws(SystemError) in
            try write(bytes, at: offset + written)
        }
    }

    func appendAll(_ bytes: Data, _ name: FileName) throws {
        try writeRest(bytes, "append", name) { bytes, _ throws(SystemError) in try append(bytes) }
    }

    /// Calls `body` with the rest of `bytes` and the number of bytes written so far, until nothing is left.
    private func writeRest(
        _ bytes: Data, _ operation: String, _ name: FileName, _ body: (Data, Int) throws(SystemError) -> Int
    ) throws {
        var written = 0
        while written < bytes.count {
            let count: Int
            do throws(SystemError) {
                count = try body(bytes.dropFirst(written), written)
            } catch {
                throw FileError(operation, name, error.code, error.operation, written: written)
            }
            guard count > 0 else {
                throw FileError(
                    operation, name, .inputOutput, "write", written: written,
                    advice: "the system took no bytes and did not say why; look at its log")
            }
            written += count
        }
    }
}
