// expect: result of call to 'flatMap(on:token:_:)' is unused
import UVFutures

func forget(_ future: Future<Int>, next: @escaping (Int) -> Future<Int>) {
    future.flatMap(next)
}
