public import FoundationEssentials
public import Futures

extension ByteStream {
    /// Completes with the next `count` bytes, or with `nil` if the peer has finished sending and nothing is left
    /// to read. If `count` is zero, completes at once with empty data.
    ///
    /// Collects all `count` bytes in memory: there is no limit. If the peer finishes sending after only some of
    /// the bytes, fails with ``StreamError/unexpectedEnd(received:)``. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `count` is negative. Also fails with the errors of ``read()``.
    ///
    /// ```swift
    /// let message = connection.read(exactly: 2).unwrap().flatMap { size in
    ///     connection.read(exactly: Int(size[0]) << 8 | Int(size[1])).unwrap()
    /// }
    /// ```
    public func read(exactly count: Int) -> Future<Data?> {
        guard count >= 0 else {
            return invalid("read(exactly:) was given a count of \(count); give zero or more")
        }
        return read(ExactBytes(count: count))
    }

    /// Completes with the bytes before the next `delimiter`, or with `nil` if the peer has finished sending and
    /// nothing is left to read. Also reads the delimiter, and drops it.
    ///
    /// Fails with ``StreamError/limitExceeded(limit:)`` if more than `limit` bytes come before the delimiter.
    /// These bytes stay readable. If the peer sends some bytes and then finishes sending without a delimiter,
    /// fails with ``StreamError/unexpectedEnd(received:)``. Fails with ``FutureError/invalidArgument(_:)`` if
    /// `delimiter` is empty or `limit` is negative. Also fails with the errors of ``read()``.
    public func read(until delimiter: Data, limit: Int = 65_536) -> Future<Data?> {
        guard !delimiter.isEmpty else {
            return invalid("read(until:) was given an empty delimiter; give at least one byte")
        }
        guard limit >= 0 else { return negativeLimit(limit, of: "read(until:)") }
        return read(DelimitedBytes(search: DelimiterSearch(delimiter), limit: limit))
    }

    /// Completes with the next line. The data does not contain the end of the line, which is a line feed, or
    /// a carriage return and a line feed. Completes with `nil` if the peer has finished sending and nothing
    /// is left to read.
    ///
    /// If the peer finishes sending without a last line feed, the bytes after the previous line feed count as a line,
    /// too. The bytes need not be text. Fails with ``StreamError/limitExceeded(limit:)`` if the line has more than
    /// `limit` bytes. These bytes stay readable, so the next read of a line fails, too. To have such lines cut or
    /// skipped instead, set ``StreamLimits/longLines``. Fails with ``FutureError/invalidArgument(_:)`` if `limit` is
    /// negative. Also fails with the errors of ``read()``.
    public func readLine(limit: Int = 65_536) -> Future<Data?> {
        guard limit >= 0 else { return negativeLimit(limit, of: "readLine") }
        return read(Line(limit: limit, longLines: limits.longLines))
    }

    /// The number of lines that were longer than their limits, and were cut or skipped
    /// (``StreamLimits/longLines``).
    public final var longLineCount: Int { buffer?.longLineCount ?? 0 }

    /// Reads until the peer has finished sending, then completes with all bytes that no earlier read has
    /// returned. If there are no such bytes, completes with empty data.
    ///
    /// Fails with ``StreamError/limitExceeded(limit:)`` if there are more than `limit` bytes. The bytes that have
    /// come stay readable. Fails with ``FutureError/invalidArgument(_:)`` if `limit` is negative. Also fails with
    /// the errors of ``read()``.
    public func readToEnd(limit: Int = 16_777_216) -> Future<Data> {
        guard limit >= 0 else { return negativeLimit(limit, of: "readToEnd") }
        return read(EverythingLeft(limit: limit))
    }

    private func negativeLimit<Value>(_ limit: Int, of call: String) -> Future<Value> {
        invalid("\(call) was given a limit of \(limit); give zero or more")
    }

    private func invalid<Value>(_ text: String) -> Future<Value> {
        core.failed(FutureError.invalidArgument(text))
    }
}
