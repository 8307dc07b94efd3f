// expect: conformance of 'Future<Value>' to 'Sendable' is unavailable
import UVFutures

func carry(from loop: EventLoop) async throws -> Future<Int> {
    try await loop.run { loop.succeeded(1) }
}
