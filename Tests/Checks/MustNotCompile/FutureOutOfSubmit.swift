// expect: conformance of 'Future<Value>' to 'Sendable' is unavailable
import UVFutures

func carry(from loop: EventLoop) async throws -> Future<Int> {
    try await loop.submit { loop.succeeded(1) }
}
