// expect: result of call to 'flatTap(on:token:_:)' is unused
import UVFutures

func forget(_ future: Future<Int>, next: @escaping (Int) -> Future<Int>) {
    future.flatTap(next)
}
