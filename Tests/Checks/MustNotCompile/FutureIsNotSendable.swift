// expect: conformance of 'Future<Value>' to 'Sendable' is unavailable
import UVFutures

func cross(_ value: some Sendable) {}

func carry(_ future: Future<Int>) {
    cross(future)
}
