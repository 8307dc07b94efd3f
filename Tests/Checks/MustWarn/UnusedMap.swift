// expect: result of call to 'map(on:token:_:)' is unused
import UVFutures

func forget(_ future: Future<Int>) {
    future.map { $0 + 1 }
}
