public import Futures

extension ByteStream {
    /// Calls `body` with each message that `decoder` finds, without copying its bytes, and completes when the peer has
    /// finished sending.
    ///
    /// `bytes` are the bytes of the message, with everything that frames it. You can use them only during the call of
    /// `body`: see ``forEachSpan(_:)``. When several messages have come together, `body` is called with one after the
    /// other, without a callback in between. When the turn has taken half a millisecond, the remaining messages follow
    /// in the next turn. `body` returns a future. While that future is pending, `body` is not called, and the stream
    /// keeps further bytes in a buffer.
    ///
    /// To stop, throw an error from `body`, or cancel the returned future. The bytes after the message stay readable by
    /// any other read, so a protocol can change in the middle of a stream.
    ///
    /// Fails with ``StreamError/unexpectedEnd(received:)`` if the peer finishes sending in the middle of a message.
    /// Fails with ``StreamError/limitExceeded(limit:)`` if a message is longer than the `maximumSize` of `decoder`, and
    /// with the errors that `decoder` throws: in both cases, the bytes stay readable. Fails with
    /// `FutureError.invalidArgument` if `maximumSize` is less than one. Everything else is the same as in
    /// ``forEachChunk(_:)``.
    ///
    /// ```swift
    /// let served = connection.forEachMessage(decodedBy: LengthPrefixDecoder(.uint16)) { range, bytes in
    ///     connection.write(bytes)
    /// }
    /// ```
    @inlinable
    public func forEachMessage<Decoder: StreamDecoder, Ignored>(
        decodedBy decoder: Decoder,
        _ body: @escaping (_ frame: Decoder.Frame, _ bytes: RawSpan) throws -> Future<Ignored>
    ) -> Future<Void> {
        let state = DecoderState(decoder)
        return runMessages(MessageSearch(state)) { bytes in
            try body(state.takeFrame(), bytes).untyped
        }
    }

    /// Calls `body` with each message that `decoder` finds, without copying its bytes, and completes when the peer has
    /// finished sending.
    ///
    /// This method does not wait for the writes of `body`. So only ``StreamLimits/writeCap`` limits how many bytes are
    /// queued. Everything else is the same as in the `forEachMessage` whose `body` returns a future.
    @inlinable
    public func forEachMessage<Decoder: StreamDecoder>(
        decodedBy decoder: Decoder,
        _ body: @escaping (_ frame: Decoder.Frame, _ bytes: RawSpan) throws -> Void
    ) -> Future<Void> {
        let state = DecoderState(decoder)
        return runMessages(MessageSearch(state)) { bytes in
            try body(state.takeFrame(), bytes)
            return nil
        }
    }

    @usableFromInline
    final func runMessages(
        _ search: MessageSearch, _ handle: @escaping (RawSpan) throws -> Future<Void>?
    ) -> Future<Void> {
        do { try search.validate(for: "forEachMessage") } catch { return core.failed(error) }
        return runChunks("forEachMessage") { MessageLoop(self, search, handle) }
    }

    /// Completes with the next message that `decoder` finds, or with `nil` if the peer has finished sending and nothing is
    /// left to read. A message is what the decoder's ``StreamDecoder/message(from:_:)`` returns.
    ///
    /// Each call begins with `decoder` as it was given: a decoder that is a structure keeps nothing from one message to
    /// the next. Bytes after the message stay readable. Fails as ``forEachMessage(decodedBy:_:)`` does, and with the
    /// errors of ``read()``. If the read is cancelled, no bytes are lost.
    ///
    /// ```swift
    /// let greeting = connection.readMessage(decodedBy: LengthPrefixDecoder(.uint8)).unwrap()
    /// ```
    public func readMessage<Decoder: StreamDecoder>(decodedBy decoder: Decoder) -> Future<Decoder.Message?> {
        core.checkThread()
        let state = DecoderState(decoder)
        let search = MessageSearch(state)
        do { try search.validate(for: "readMessage") } catch { return core.failed(error) }
        guard reader == nil else { return misused(.readPending, by: "readMessage") }
        if !hasUnread, let refusal { return refused(refusal) }
        let read = MessageRead(self, search) { state.takeMessage($0) }
        do {
            if let message = try read.takeNow() { return core.succeeded(message) }
        } catch {
            return core.failed(error, subject: "readMessage of \(name)")
        }
        if let refusal { return refused(refusal) }
        guard sides.contains(.read) else { return misused(.notReadable, by: "readMessage") }
        return read.begin()
    }

    /// Returns a sequence of the messages that `decoder` finds: `for try await message in stream.messages(decodedBy: …)`. The
    /// sequence ends when the peer has finished sending.
    ///
    /// The elements and the errors are those of ``readMessage(decodedBy:)``. Everything else is the same as in ``chunks``.
    public func messages<Decoder: StreamDecoder>(decodedBy decoder: Decoder) -> LoopSequence<Decoder.Message>
    {
        LoopSequence(on: loop) { [self] in .init(next: { self.readMessage(decodedBy: decoder) }) }
    }
}
