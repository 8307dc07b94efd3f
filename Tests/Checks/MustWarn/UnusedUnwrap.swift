// expect: result of call to 'unwrap(orFail:)' is unused
import UVFutures

func forget(_ future: Future<Int?>) {
    future.unwrap()
}
