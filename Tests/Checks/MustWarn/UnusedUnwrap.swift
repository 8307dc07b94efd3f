// expect: result of call to 'unwrap(or:)' is unused
import UVFutures

func forget(_ future: Future<Int?>) {
    future.unwrap(or: 0)
}
